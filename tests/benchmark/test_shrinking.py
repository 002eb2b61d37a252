"""What is told of a task without its bytes (KernelBench's form), and how one is made smaller."""

import json
import pathlib
import sys
import tempfile
import unittest

import torch
from known_kernels import LIBEXEC
from trees import TREE, program, text_of

sys.path.insert(0, str(LIBEXEC))
import task_facts  # noqa: E402
import task_pose  # noqa: E402
import task_shrink  # noqa: E402

MOST = 1 << 30
torch.set_num_threads(1)


def task_of(drawn, result, layers="pass", sizes=""):
    """A task of one input. @param drawn its shape, in the names of `sizes` @param layers a statement of __init__"""
    return f"""
import torch

{sizes}


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        {layers}

    def forward(self, x):
        return {result}


def get_inputs():
    return [torch.rand({drawn})]


def get_init_inputs():
    return []
"""


class WithoutBytes(unittest.TestCase):
    """What is told of a task without running it with numbers."""

    ENCODER = "self.layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)"
    RATES = "self.rates = [r.item() for r in torch.linspace(0, 1, 3)]"
    TIED = "self.a, self.b = torch.nn.Linear(32, 32), torch.nn.Linear(32, 32)\n        self.b.weight = self.a.weight"
    TASKS = (
        ("4, 10, 32", ENCODER, "self.layer(x)"),
        ("4, 32", f"{RATES}\n        {TIED}\n        self.register_buffer('scale', torch.ones(32))",
         "self.b(self.a(x)) * self.rates[1] * self.scale"),
        ("2, 3, 17, 20, 33", "pass", "torch.nn.functional.max_pool3d(x, (2, 3, 4), (1, 2, 3), ceil_mode=True)"),
        ("3, 8, 9, 10", "self.pool = torch.nn.MaxPool3d(3, 2, padding=1)", "self.pool(x)"),
        ("2, 3, 17, 17, 17", "pass", "torch.nn.functional.max_pool3d(x, 3, dilation=2, return_indices=True)"),
    )  # fmt: skip

    def test_it_is_what_a_run_with_numbers_says(self):
        for shape, init, result in self.TASKS:
            text = task_of(drawn=shape, layers=init, result=result)
            look = task_pose.fake_look(text, "task", MOST)
            self.assertIsNotNone(look.results, result)
            self.assertEqual((look.inputs, look.outputs), task_facts.facts_of(task_facts.load_names(text, "task"))[:2])

    def test_products_of_attention_are_counted(self):
        text = task_of(drawn="4, 10, 32", layers=self.ENCODER, result="self.layer(x)")
        _, about = task_pose.pose(text, "task", "other", MOST)
        linear = 4 * 10 * 2 * (32 * 96 + 32 * 32 + 2 * 32 * 64)  # projections in and out, two layers of the MLP
        self.assertGreater(about["flops"], linear + 2 * 2 * 4 * 10 * 10 * 32)  # scores, and what they weigh


class Shrinking(unittest.TestCase):
    def test_whole_tiles_stay_whole_and_ragged_ones_ragged(self):
        wanted = {4096: 2048, 384: 128, 1000: 488, 65535: 32767, 257: 129, 128: 64, 33: 17, 200: 200, 16: 16, 3: 3}
        self.assertEqual({n: task_shrink.halved(n, False) for n in wanted}, wanted)
        self.assertEqual([task_shrink.halved(n, True) for n in (64, 10, 3, 2, 1)], [32, 5, 2, 2, 1])
        wanted = {224: 112, 384: 192, 225: 75, 131: 131, 16: 16, 3: 3}
        self.assertEqual({n: task_shrink.divided(n, False) for n in wanted}, wanted)

    def shrunk(self, sizes, drawn, result, layers="pass"):
        """What a task's inputs and text are after shrinking. @returns (shape of x, text)"""
        text = task_shrink.shrink(task_of(drawn, result, layers, sizes), "task")
        return task_pose.fake_look(text, "task", float("inf")).inputs[0]["shape"], text

    def test_images_between_one_tile_and_two_shrink(self):
        layers = "self.stem = torch.nn.Conv2d(3, 64, 7, stride=2, padding=3)"
        shape, text = self.shrunk("batch_size, image = 10, 224", "batch_size, 3, image, image", "self.stem(x)", layers)
        self.assertEqual(shape, [2, 3, 112, 112])  # 2 x 64 x 56 x 56 floats are 1.5 MiB, twice the image's side 6.1
        self.assertIn(layers, text)

    def test_a_ragged_edge_stays_as_long_as_other_sizes_can_shrink(self):
        shape, _ = self.shrunk("rows, columns = 40000, 200", "rows, columns", "x * 2")
        self.assertEqual((shape[0] % 128, shape[1]), (40000 % 128, 200))
        self.assertEqual(self.shrunk("columns = 200", "columns, columns, columns", "x * 2")[0], [50, 50, 50])

    def test_windows_that_must_divide_still_do(self):
        windows = "x.reshape(8, x.shape[1] // 12, 12, -1).sum(2)"
        shape, _ = self.shrunk("side = 1536", "8, side, side", windows)
        self.assertEqual((shape[1] % 12, shape[1] == shape[2]), (0, True))
        self.assertLess(shape[1], 1536)

    def test_inputs_do_not_pay_for_weights_that_are_fixed(self):
        layers = "self.w = torch.nn.Parameter(torch.randn(512, 3000))"
        self.assertEqual(self.shrunk("rows = 32", "rows, 512", "(x @ self.w).sum(1)", layers)[0], [32, 512])

    def test_only_sizes_change(self):
        source = text_of("sizes_to_shrink")
        smaller = task_shrink.shrink(source, "task")
        changed = [(a, b) for a, b in zip(source.splitlines(), smaller.splitlines()) if a != b]
        self.assertEqual([a for a, _ in changed], ["batch_size = 64", "seq, width = 1000, 2048 * 2"])
        look = task_pose.fake_look(smaller, "task", float("inf"))
        batch, seq, width = look.inputs[0]["shape"]
        self.assertEqual(seq % 128, 1000 % 128)
        self.assertEqual(width % 128, 0)
        self.assertLessEqual(task_pose.bytes_of(look.inputs + look.outputs), task_shrink.GOAL_BYTES)

    def test_work_before_an_operation_that_only_numbers_can_tell_counts(self):
        source = """
import torch

size = 384


class Model(torch.nn.Module):
    def forward(self, x):
        x = torch.matmul(torch.matmul(x, x), x)
        return x * x.sum().item()


def get_inputs():
    return [torch.randn(3, size, size)]


def get_init_inputs():
    return []
"""
        smaller = task_shrink.shrink(source, "task")
        look = task_pose.fake_look(smaller, "task", float("inf"))
        self.assertIsNone(look.results)
        self.assertLessEqual(look.work.products, task_shrink.GOAL_FLOPS)

    def test_an_import_is_a_folder_that_grids_and_people_can_use(self):
        with tempfile.TemporaryDirectory() as scratch:
            out = pathlib.Path(scratch) / "small"
            told = json.loads(program("bench", "import", TREE, "-o", out, "--shrink", "--json")[0])
            self.assertEqual(told["levels"], {"L1": {"posed": 10, "degenerate": 0, "refused": 0},
                                              "L2": {"posed": 1, "degenerate": 0, "refused": 6},
                                              "L3": {"posed": 1, "degenerate": 0, "refused": 0}})  # fmt: skip
            index = json.loads((out / "index.json").read_text())
            self.assertEqual(index["name"], "kernelbench-shrunk")
            self.assertEqual(list(index["subsets"]), ["kernelbench-shrunk"])
            self.assertIn("L3/001_sizes_to_shrink", program("bench", "list", "--benchmark", out)[0])
            self.assertIn("holds a benchmark already", program("bench", "import", TREE, "-o", out, code=2)[1])


if __name__ == "__main__":
    unittest.main()
