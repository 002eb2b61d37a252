"""The benchmark seed: its index is current, trivial answers fail, known kernels pass both rules in the simulator."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import torch

ROOT = pathlib.Path(os.environ["NKIGRID_SOURCE_DIR"])
BENCH = ROOT / "configs" / "nkigen-bench"
LIBEXEC = pathlib.Path(os.environ["NKIGRID_BUILD_DIR"]) / "libexec"
CHECK = LIBEXEC / "check_index.py"
INDEX = json.loads((BENCH / "index.json").read_text())
TASKS = {task["id"]: task for task in INDEX["tasks"]}
PRECISE = {"matmul", "matmul-epilogue", "attention", "mlp", "convolution"}  # bfloat16 inside must show here
TRIALS = 5
torch.set_num_threads(1)


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def prove(folder):
    """check_index.py on a folder. @returns (exit code, {task id: problems}, stderr)"""
    command = [sys.executable, CHECK, folder, LIBEXEC / "libnkigrid_sandbox.so", "relaxed"]
    ran = subprocess.run(command, capture_output=True, text=True)
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    return ran.returncode, {f["id"]: f["problems"] for f in found}, ran.stderr


def make_tree(folder, tasks):
    """A benchmark of variants of the first task. @param tasks {id: (source, index entry or None for the right one)}"""
    entries = []
    for task_id, (source, entry) in tasks.items():
        file = folder / "tasks" / (task_id + ".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)
        entries.append((entry or TASKS["L1/001_add"]) | {"id": task_id})
    (folder / "index.json").write_text(json.dumps({"tasks": entries}))


ADD = (BENCH / "tasks" / "L1" / "001_add.py").read_text()
check = load(CHECK, "check_index")


def arguments(model, given):
    """What the kernel gets, in the index's order: inputs, parameters, floating buffers."""
    tensors = [g for g in given if isinstance(g, torch.Tensor)] + list(model.parameters())
    tensors += [b for b in model.buffers() if b.is_floating_point()]
    return [
        np.ascontiguousarray(t.detach().numpy().astype(np.int32 if not t.is_floating_point() else np.float32))
        for t in tensors
    ]


def trials(task_id, count=TRIALS):
    """(arguments, references) of `count` trials."""
    names = check.load_task((BENCH / "tasks" / f"{task_id}.py").read_text(), task_id)
    for trial in range(count):
        model, given = check.build(names, 5000 + trial)
        given = check.shift(TASKS[task_id], given, trial)
        yield arguments(model, given), [r.numpy() for r in check.outputs_of(model, given)]


class Index(unittest.TestCase):
    def test_make_index_gives_the_index_that_is_committed(self):
        made = subprocess.run(
            [sys.executable, BENCH / "make_index.py", "--print"], capture_output=True, text=True, check=True
        )
        self.assertEqual(made.stdout, (BENCH / "index.json").read_text())

    def test_the_seed_has_twelve_eight_and_four_tasks(self):
        levels = [task_id.split("/")[0] for task_id in TASKS]
        self.assertEqual([levels.count(level) for level in ("L1", "L2", "L3")], [12, 8, 4])
        self.assertEqual(INDEX["subsets"]["nkigen-demo"], sorted(TASKS))
        self.assertEqual(len(INDEX["subsets"]["nkigen-smoke"]), 4)
        self.assertLessEqual(set(INDEX["subsets"]["nkigen-smoke"]), set(TASKS))

    def test_every_kind_of_operation_and_rank_is_there(self):
        kinds = {task["category"] for task in TASKS.values()}
        self.assertLessEqual(
            {
                "elementwise",
                "activation",
                "reduction",
                "normalisation",
                "softmax",
                "matmul",
                "matmul-epilogue",
                "attention",
                "pooling",
                "convolution",
                "transpose",
                "scan",
                "mlp",
                "loss",
            },
            kinds,
        )
        ranks = {len(task["inputs"][0]["shape"]) for task in TASKS.values()}
        self.assertEqual(ranks, {2, 3, 4})

    def test_every_task_is_small(self):
        for task_id, task in TASKS.items():
            elements = sum(int(np.prod(i["shape"])) for i in task["inputs"])
            self.assertLess(4 * elements, 4 << 20, task_id)

    def test_every_task_has_a_kernel_of_few_lines(self):
        for task_id in TASKS:
            self.assertLess(len((BENCH / "kernels" / f"{task_id}.py").read_text().splitlines()), 80, task_id)

    def test_a_wrong_index_is_found(self):
        entry = json.loads(json.dumps(TASKS["L1/001_add"]))
        entry["inputs"].reverse()
        with tempfile.TemporaryDirectory() as scratch:
            make_tree(pathlib.Path(scratch), {"L1/001_add": (ADD, entry)})
            code, problems, _ = prove(pathlib.Path(scratch))
        self.assertEqual(code, 1)
        self.assertIn("the index lists inputs", problems["L1/001_add"][0])


class StrangersTasks(unittest.TestCase):
    """A task is code from anybody: what it does is its own fault and nobody else's."""

    ACTS = {
        "reads a file": "open('/etc/passwd').read()",
        "writes a file": "open('MARK', 'w').write('x')",
        "runs a program": "import subprocess; subprocess.run(['touch', 'MARK'])",
        "opens a socket": "import socket; socket.socket().connect(('127.0.0.1', 9))",
        "signals its parent": "import os; os.kill(os.getppid() or 1, 9)",
        "leaves": "import os; os._exit(0)",
    }

    def test_each_act_fails_its_own_task_and_no_other(self):
        with tempfile.TemporaryDirectory() as scratch:
            mark = pathlib.Path(scratch) / "mark"
            tasks = {
                f"L1/{what}": (act.replace("MARK", str(mark)) + "\n" + ADD, None) for what, act in self.ACTS.items()
            }
            make_tree(pathlib.Path(scratch), tasks | {"L1/last": (ADD, None)})
            code, problems, errors = prove(pathlib.Path(scratch))
            self.assertFalse(mark.exists())
        self.assertEqual(code, 1, errors)
        self.assertEqual(list(problems), [*tasks, "L1/last"])
        self.assertEqual([task for task, found in problems.items() if not found], ["L1/last"])

    def test_no_task_changes_how_the_next_is_judged(self):
        spoils = "import sys\nsys.modules['__main__'].passes = lambda *_: False\n" + ADD
        zero = ADD.replace("x + self.alpha * y", "1e-5 * (x + y)")
        with tempfile.TemporaryDirectory() as scratch:
            make_tree(pathlib.Path(scratch), {"L1/spoils": (spoils, None), "L1/zero": (zero, None)})
            _, problems, _ = prove(pathlib.Path(scratch))
        self.assertIn("trial 0: zeros passes", problems["L1/zero"])

    def test_a_task_that_is_no_regular_file_is_not_read(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            make_tree(folder, {"L1/link": (ADD, None), "L1/fifo": (ADD, None)})
            for name in ("link", "fifo"):
                (folder / "tasks" / "L1" / f"{name}.py").unlink()
            (folder / "tasks" / "L1" / "link.py").symlink_to("/dev/zero")
            os.mkfifo(folder / "tasks" / "L1" / "fifo.py")
            code, problems, _ = prove(folder)
        self.assertEqual(code, 1)
        for task in ("L1/link", "L1/fifo"):
            self.assertIn("is no regular file", problems[task][0])


class TrivialAnswers(unittest.TestCase):
    def test_zeros_a_copy_and_a_constant_fail_in_each_trial_of_each_task(self):
        code, problems, errors = prove(BENCH)
        self.assertEqual(problems, {task_id: [] for task_id in sorted(TASKS)})
        self.assertEqual(code, 0, errors)

    def test_a_task_whose_answer_is_nearly_zero_is_found(self):
        source = (BENCH / "tasks" / "L1" / "001_add.py").read_text().replace("x + self.alpha * y", "1e-5 * (x + y)")
        problems = check.trial_problems(TASKS["L1/001_add"], self.run_source(source), 1)
        self.assertIn("trial 0: zeros passes", problems)

    def test_bfloat16_inside_fails_where_products_are_summed(self):
        for task_id in [t for t in TASKS if TASKS[t]["category"] in PRECISE]:
            names = check.load_task((BENCH / "tasks" / f"{task_id}.py").read_text(), task_id)
            model, given = check.build(names, 1)
            wanted = [r.numpy() for r in check.outputs_of(model, given)]
            rounded = [g.bfloat16().float() for g in given]
            for parameter in model.parameters():
                parameter.data = parameter.data.bfloat16().float()
            self.assertFalse(check.passes([r.numpy() for r in check.outputs_of(model, rounded)], wanted), task_id)

    @staticmethod
    def run_source(source):
        names = {"__name__": "task"}
        exec(source, names)
        return names


class KnownKernels(unittest.TestCase):
    def judge(self, task_id):
        """Runs the known kernel on all trials; the paper's and the strict rule are asserted."""
        from neuronxcc import nki

        kernel = load(BENCH / "kernels" / f"{task_id}.py", "known_kernel").kernel
        for given, wanted in trials(task_id):
            result = nki.simulate_kernel(kernel, *given)
            outputs = result if isinstance(result, tuple) else (result,)
            self.assertEqual(len(outputs), len(wanted))
            for got, want in zip(outputs, wanted):
                got = np.asarray(got)
                self.assertEqual((got.shape, got.dtype), (want.shape, want.dtype))
                self.assertTrue(np.isfinite(got).all(), "not finite")
                self.assertTrue(np.allclose(got, want, atol=1e-3, rtol=1e-3), f"max error {np.abs(got - want).max():g}")
                gap = np.linalg.norm((got.astype(np.float64) - want).ravel()) / np.linalg.norm(
                    want.astype(np.float64).ravel()
                )
                self.assertLessEqual(gap, 1e-4)
                self.assertGreater(np.ptp(got), 0)

    def test_each_passes_the_paper_and_the_strict_rule(self):
        for task_id in sorted(TASKS):
            with self.subTest(task_id):
                self.judge(task_id)


if __name__ == "__main__":
    unittest.main()
