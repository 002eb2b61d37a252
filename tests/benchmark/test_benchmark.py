"""nkigen-bench: its index is current and balanced; on a sample of tasks trivial answers fail, known kernels pass both
rules and bfloat16 inside shows. tests/benchmark/prove.py is the same over all tasks."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import known_kernels
import numpy as np
import torch
from known_kernels import BENCH, LIBEXEC, well_posed

INDEX = json.loads((BENCH / "index.json").read_text())
TASKS = {task["id"]: task for task in INDEX["tasks"]}
ABOUT = json.loads((BENCH / "about.json").read_text())
LEVELS = {"L1": 100, "L2": 100, "L3": 50}
CHECK = LIBEXEC / "check_index.py"
check = known_kernels.load(CHECK, "check_index")
ADD = (BENCH / "tasks" / "L1" / "001_add.py").read_text()


def commit():
    """The commit that is tested; where there is no git tree, the index stands for it."""
    ran = subprocess.run(["git", "-C", BENCH, "rev-parse", "--verify", "HEAD"], capture_output=True, text=True)
    return ran.stdout.strip() or hashlib.sha256((BENCH / "index.json").read_bytes()).hexdigest()


def sample(of=None):
    """The demo's tasks and a tenth of the others, another tenth each commit. @param of a commit, by default this one"""
    digest = of or commit()
    chosen = lambda i: int(hashlib.sha256((digest + i).encode()).hexdigest(), 16) % 10 == 0
    return sorted(i for i in TASKS if i in INDEX["subsets"]["nkigen-demo"] or chosen(i))


def with_tag(tag):
    return [i for i in TASKS if tag in ABOUT[i]["tags"]]


def elements(tensors):
    return sum(int(np.prod(t["shape"])) for t in tensors)


def prove(folder, *tasks):
    """check_index.py on a folder, all of its tasks or those named. @returns (exit code, {task id: problems}, stderr)"""
    command = [sys.executable, CHECK, folder, LIBEXEC / "libnkigrid_sandbox.so", "relaxed", *tasks]
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


class Index(unittest.TestCase):
    def test_what_is_made_is_as_make_index_makes_it(self):
        made = subprocess.run(
            [sys.executable, "-B", BENCH / "make_index.py", "--check"], capture_output=True, text=True
        )
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        self.assertEqual(list(ABOUT), list(TASKS))

    def test_there_are_as_many_tasks_of_each_level_and_origin_as_the_plan_says(self):
        levels = [task_id.split("/")[0] for task_id in TASKS]
        self.assertEqual({level: levels.count(level) for level in LEVELS}, LEVELS)
        self.assertEqual([len(with_tag(t)) for t in ("kernelbench", "decompose", "nki-native")], [150, 60, 40])

    def test_each_level_has_inputs_of_two_three_and_four_axes(self):
        for level in LEVELS:
            ranks = [ABOUT[i]["rank"] for i in TASKS if i.startswith(level)]
            for rank in (2, 3, 4):
                self.assertGreaterEqual(ranks.count(rank), len(ranks) // 5, (level, rank))

    def test_sizes_and_types_are_as_the_plan_says(self):
        self.assertGreaterEqual(len(with_tag("ragged")), len(TASKS) // 5)
        narrow = [i for i in TASKS if any(t["dtype"] == "bfloat16" for t in TASKS[i]["inputs"])]
        self.assertEqual(len(narrow), 25)
        for task_id in narrow:
            self.assertEqual({o["dtype"] for o in TASKS[task_id]["outputs"]}, {"float32"}, task_id)
        many_valued = [i for i in with_tag("integer") if self.values_of_integers(TASKS[i]) >= 16]
        self.assertGreaterEqual(len(many_valued), 8)

    @staticmethod
    def values_of_integers(task):
        """The most distinct values that an integer input or output of the task takes in one draw."""
        model, given = well_posed.draw(task, known_kernels.task_names(BENCH / "tasks" / f"{task['id']}.py"), 1, 0)
        tensors = [*given, *well_posed.outputs_of(model, given)]
        return max(t.unique().numel() for t in tensors if isinstance(t, torch.Tensor) and not t.is_floating_point())

    def test_every_kind_of_operation_is_there(self):
        kinds = {task["category"] for task in TASKS.values()}
        self.assertGreaterEqual(len(kinds), 24)
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

    def test_every_task_is_small(self):
        for task_id, task in TASKS.items():
            self.assertLess(4 * elements(task["inputs"]), 4 << 20, task_id)
            self.assertLess(ABOUT[task_id]["flops"], 150e6, task_id)

    def test_every_task_has_a_kernel_of_few_lines(self):
        for task_id in TASKS:
            self.assertLess(len((BENCH / "kernels" / f"{task_id}.py").read_text().splitlines()), 80, task_id)

    def test_no_file_belongs_to_no_task_and_no_two_tasks_are_one(self):
        for folder in ("tasks", "kernels"):
            found = {str(p.relative_to(BENCH / folder).with_suffix("")) for p in (BENCH / folder).rglob("*.py")}
            self.assertEqual(found, set(TASKS))
        bodies = [re.sub(r'#.*|""".*?"""|\s+', "", (BENCH / "tasks" / f"{i}.py").read_text()) for i in TASKS]
        self.assertEqual(len(set(bodies)), len(TASKS))
        self.assertEqual(len({about["title"] for about in ABOUT.values()}), len(TASKS))

    def test_the_tasks_of_the_demo_are_those_that_its_tables_were_made_with(self):
        digest = hashlib.sha256()
        for task_id in INDEX["subsets"]["nkigen-demo"]:
            digest.update((BENCH / "tasks" / f"{task_id}.py").read_bytes())
            digest.update(json.dumps(TASKS[task_id], sort_keys=True, separators=(",", ":")).encode())
        self.assertEqual(digest.hexdigest()[:16], "082b15101e80ed6e")

    def test_subsets_are_balanced_and_nested(self):
        subsets = INDEX["subsets"]
        self.assertEqual(
            {k: len(v) for k, v in subsets.items()},
            {
                "nkigen-demo": 24,
                "nkigen-smoke": 4,
                "nkigen-24": 24,
                "nkigen-150": 150,
                "nkigen-60": 60,
                "local-60": 60,
            },
        )
        self.assertEqual(subsets["nkigen-24"], subsets["nkigen-demo"])
        self.assertLessEqual(set(subsets["nkigen-60"]), set(subsets["nkigen-150"]))
        for name, each in (("nkigen-150", 50), ("nkigen-60", 20), ("local-60", 20)):
            levels = [i.split("/")[0] for i in subsets[name]]
            self.assertEqual([levels.count(level) for level in LEVELS], [each] * 3, name)
            self.assertEqual(len(set(subsets[name])), len(subsets[name]))
        categories = {task["category"] for i, task in TASKS.items() if i.startswith("L1")}
        drawn = {TASKS[i]["category"] for i in subsets["nkigen-150"] if i.startswith("L1")}
        self.assertEqual(drawn, categories)

    def test_the_sample_is_a_tenth_that_hangs_on_the_commit_alone(self):
        self.assertEqual(sample(), sample(commit()))
        others = len(TASKS) - len(INDEX["subsets"]["nkigen-demo"])
        commits = [hashlib.sha1(bytes([n])).hexdigest() for n in range(100)]
        sizes = [len(sample(c)) - len(INDEX["subsets"]["nkigen-demo"]) for c in commits]
        self.assertAlmostEqual(sum(sizes) / len(sizes), others / 10, delta=3)  # its standard deviation is 0.45
        self.assertEqual({i for c in commits for i in sample(c)}, set(TASKS))  # one is missed by 100 with 0.6 %

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

    WORDS = {
        "half a surrogate pair": "raise ValueError('\\ud800')",
        "words that nobody can parse": "import os; [os.write(n, b'[' * 100000) for n in range(3, 40)]; os._exit(0)",
        "a tally of its own": 'import os\nfor n in range(3, 40):\n    try:\n        os.write(n, b\'{"problems": [], '
        '"answers": {"ends": NaN}, "integer_values": -1, "reference_s": NaN}\')\n    except OSError:\n'
        "        pass\nos._exit(0)",
    }

    def test_whatever_a_task_says_is_its_own_fault_and_a_line_of_json(self):
        with tempfile.TemporaryDirectory() as scratch:
            tasks = {f"L1/{what}": (words + "\n" + ADD, None) for what, words in self.WORDS.items()}
            make_tree(pathlib.Path(scratch), tasks | {"L1/last": (ADD, None)})
            code, problems, errors = prove(pathlib.Path(scratch))
        self.assertEqual(code, 1, errors)
        self.assertEqual(list(problems), [*tasks, "L1/last"])
        self.assertEqual([task for task, found in problems.items() if not found], ["L1/last"])
        self.assertIn("ValueError: ?", problems["L1/half a surrogate pair"])

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


class Work(unittest.TestCase):
    """FLOPs, bytes and roofline of the index against sums by hand."""

    def test_a_matrix_product(self):
        about = ABOUT["L1/008_matmul"]  # (256, 384) @ (384, 600)
        self.assertEqual(about["flops"], 2 * 256 * 384 * 600)
        self.assertEqual(about["hbm_bytes"], 4 * (256 * 384 + 384 * 600 + 256 * 600))
        self.assertAlmostEqual(about["roofline_us"], about["flops"] / 23e6, delta=0.01)  # 23 TFLOPS in float32

    def test_a_sum_of_two_tensors_is_bound_by_its_bytes(self):
        about = ABOUT["L1/001_add"]  # x + alpha * y of (300, 700)
        self.assertEqual(about["hbm_bytes"], 3 * 4 * 300 * 700)
        self.assertAlmostEqual(about["roofline_us"], about["hbm_bytes"] / 435.2e3, delta=0.01)  # 16 x 27.2 GB/s

    def test_convolutions(self):
        # every output element: 2 x (channels x taps), and with a stride of one no other product
        self.assertEqual(ABOUT["L1/072_conv1d"]["flops"], 2 * (2 * 96 * 296) * (64 * 5))
        # transposed: every input element meets features x taps
        self.assertEqual(ABOUT["L1/078_conv_transpose2d"]["flops"], 2 * (2 * 60 * 12 * 15) * (32 * 4))


class TrivialAnswers(unittest.TestCase):
    def test_what_is_cheap_or_spoilt_fails_on_each_task_of_the_sample(self):
        code, problems, errors = prove(BENCH, *sample())
        self.assertEqual(problems, {task_id: [] for task_id in sample()})
        self.assertEqual(code, 0, errors)

    def problems(self, body, count=2):
        """Of L1/001_add with another expression."""
        source = ADD.replace("x + self.alpha * y", body)
        names = {"__name__": "task"}
        exec(source, names)
        return check.trial_problems(TASKS["L1/001_add"], names, count)

    def test_a_good_task_has_no_problem(self):
        self.assertEqual(self.problems("x + self.alpha * y"), [])

    def test_a_task_whose_answer_is_nearly_zero_is_found(self):
        self.assertIn("trial 0: zeros passes", self.problems("1e-5 * (x + y)"))

    def test_a_task_whose_answer_is_one_nearly_everywhere_is_found(self):
        found = self.problems("torch.tanh(x * x + y * y + 20.0)")
        for what in ("ones", "the mean of the reference", "the result of the next entry of the first axis"):
            self.assertIn(f"trial 0: {what} passes", found)

    def test_a_copy_of_an_input_is_found(self):
        self.assertIn("trial 0: a copy of input 1 passes", self.problems("y + 1e-6 * x"))

    def test_an_input_that_does_not_matter_is_found(self):
        self.assertIn("input 'y': the last entry of axis 0 changes nothing", self.problems("x + 0.0 * y * y"))

    def test_a_last_column_that_is_always_zero_is_found(self):
        found = self.problems("(x + y) * (torch.arange(cols) < cols - 1)")
        self.assertIn("output 0 without its last entry of axis 1 passes in every trial", found)

    def test_an_answer_of_few_values_that_float8_holds_is_found(self):
        self.assertIn(
            "trial 0: the reference rounded to float8 passes", self.problems("torch.round(x) + torch.sign(y)")
        )

    def test_a_mean_that_does_not_show_is_found(self):
        found = self.problems("x + y + 1e-6 * x.mean(dim=1, keepdim=True)")
        self.assertIn("trial 0: the reference without statistic 1 of 1 passes", found)

    def test_norms_without_a_statistic_are_what_numpy_says(self):
        lost = known_kernels.load(LIBEXEC / "lost_statistics.py", "lost_statistics")
        torch.manual_seed(3)
        x = torch.randn(2, 6, 5) + 1.0
        norms = [
            (2, lambda: torch.nn.functional.layer_norm(x, (5,), eps=1e-12)),
            (2, lambda: torch.nn.functional.instance_norm(x, eps=1e-12)),
            ((1, 2), lambda: torch.nn.functional.group_norm(x, 1, eps=1e-12)),
        ]
        values = x.numpy().astype(np.float64)
        for axes, norm in norms:
            centre, spread = values.mean(axis=axes, keepdims=True), values.std(axis=axes, keepdims=True)
            without_mean, without_variance = [out[0].numpy() for _, out in lost.without_statistics(lambda: [norm()])]
            np.testing.assert_allclose(without_mean, values / spread, rtol=1e-4)
            np.testing.assert_allclose(without_variance, values - centre, rtol=1e-4, atol=1e-5)

    def test_the_first_trial_is_compared_with_another_too(self):
        found = self.problems("0.0 * (x + y) + torch.arange(cols) / cols", 1)
        self.assertIn("trial 0: the result for the inputs of another trial passes", found)

    def test_a_ragged_last_tile_and_last_columns_that_do_not_show_are_found(self):
        found = self.problems("(x + y) * (torch.arange(cols) < cols - cols % 128)", 1)
        self.assertIn("trial 0: output 0 without its last 60 entries of axis 1 passes", found)
        self.assertIn("trial 0: output 0 without its last 2 entries of axis 1 passes", found)

    def test_results_that_are_not_of_order_one_are_found(self):
        self.assertIn("trial 0: output 0 is of order 1.1e+04, not one", self.problems("1e4 * (x + 0.5 * y)", 1))

    def test_products_whose_rounding_does_not_show_are_found_unless_said(self):
        body = "x + y + 1e-3 * (x @ x.T @ y) / 1e4"
        found = "trial 0: the reference with products of bfloat16 operands passes"
        self.assertIn(found, self.problems(body, 1))
        names = {"__name__": "task"}
        exec(ADD.replace("x + self.alpha * y", body), names)
        self.assertNotIn(found, check.trial_problems(TASKS["L1/001_add"], names, 1, blind=True))

    def test_rounded_products_are_what_numpy_says(self):
        rounded = known_kernels.load(LIBEXEC / "rounded_products.py", "rounded_products")
        torch.manual_seed(4)
        a, b = torch.randn(9, 300), torch.randn(300, 7)
        got = rounded.with_rounded_products(lambda: [torch.matmul(a, b)])[0].numpy()
        # bfloat16 keeps the upper half of a float32, rounded to nearest even
        bits = [t.numpy().view(np.uint32).astype(np.uint64) for t in (a, b)]
        cut = [((v + 0x7FFF + ((v >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32) for v in bits]
        np.testing.assert_allclose(got, cut[0].astype(np.float64) @ cut[1].astype(np.float64), rtol=1e-4, atol=1e-4)
        self.assertIsNone(rounded.with_rounded_products(lambda: [a + 1]))

    def test_sums_that_float32_cannot_hold_are_found(self):
        self.assertIn("differ by more than", "".join(self.problems("(x * 1e6 + y) - x * 1e6 + y")))


class Precision(unittest.TestCase):
    # Their results are means over many products, in which rounding errors cancel below the tolerance.
    AVERAGED = {"L2/012_pointwise_conv_hardswish_mean", "L2/042_matmul_relu_column_sum", "L2/060_linear_attention"}
    PRECISE = {"matmul", "matmul-epilogue", "attention", "mlp", "convolution", "transformer", "recurrent", "mixture"}

    def test_bfloat16_inside_fails_where_products_are_summed(self):
        looked_at = 0
        for task_id in sample():
            if TASKS[task_id]["category"] not in self.PRECISE or task_id in self.AVERAGED | set(with_tag("bfloat16")):
                continue
            model, given = well_posed.build(known_kernels.task_names(BENCH / "tasks" / f"{task_id}.py"), 1)
            wanted = [r.numpy() for r in well_posed.outputs_of(model, given)]
            rounded = [g.bfloat16().float() if g.is_floating_point() else g for g in given]
            for parameter in model.parameters():
                parameter.data = parameter.data.bfloat16().float()
            got = [r.numpy() for r in well_posed.outputs_of(model, rounded)]
            self.assertFalse(well_posed.passes(got, wanted), task_id)
            looked_at += 1
        self.assertGreater(looked_at, 8)


class KnownKernels(unittest.TestCase):
    def test_each_of_the_sample_passes_the_paper_and_the_strict_rule(self):
        for task_id in sample():
            with self.subTest(task_id):
                self.assertEqual(known_kernels.kernel_problems(TASKS[task_id]), [])

    def test_a_kernel_that_drops_a_part_is_found(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            for kind in ("tasks", "kernels"):
                (folder / kind / "L1").mkdir(parents=True)
                text = (BENCH / kind / "L1" / "001_add.py").read_text()
                (folder / kind / "L1" / "001_add.py").write_text(text.replace("ALPHA = 0.5", "ALPHA = 0.49"))
            found = known_kernels.kernel_problems(TASKS["L1/001_add"], folder, 1)
        self.assertRegex(found[0], "trial 0: max error 0.0[34]")


class Check(unittest.TestCase):
    def test_the_program_proves_the_tasks_of_the_demo(self):
        """Index, known kernels by both rules on the device, trivial kernels wrong there."""
        demo = INDEX["subsets"]["nkigen-demo"]
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            for task_id in demo:
                for kind in ("tasks", "kernels"):
                    (folder / kind / task_id).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(BENCH / kind / f"{task_id}.py", folder / kind / f"{task_id}.py")
            part = {**INDEX, "tasks": [TASKS[i] for i in demo], "subsets": {"nkigen-demo": demo}}
            (folder / "index.json").write_text(json.dumps(part))
            (folder / "about.json").write_text(json.dumps({i: ABOUT[i] for i in demo}))
            command = [os.environ["NKIGRID"], "bench", "check", "--benchmark", folder]
            ran = subprocess.run(command, capture_output=True, text=True)
        self.assertIn("24 tasks, 0 with a fault, 24 with a known kernel", ran.stdout, ran.stderr)
        form = r"^(L\d): (\d+) tasks, (\d+) with a known kernel; .*; (\d+) ragged, (\d+) bfloat16"
        told = {level: [int(n) for n in counts] for level, *counts in re.findall(form, ran.stdout, re.M)}
        of = lambda level, tag="": sum(i.startswith(level) and (not tag or tag in ABOUT[i]["tags"]) for i in demo)
        self.assertEqual(told, {l: [of(l), of(l), of(l, "ragged"), of(l, "bfloat16")] for l in LEVELS})
        self.assertRegex(ran.stdout, r"cheap answers tried: \d+ bfloat16, \d+ ends, \d+ kernels, \d+ statistics, \d+")

    def test_only_what_changed_is_proved_again(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            source = ADD.replace("rows, cols = 300, 700", "rows, cols = 130, 140")
            entry = json.loads(json.dumps(TASKS["L1/001_add"]).replace("300", "130").replace("700", "140"))
            make_tree(folder, {"L1/one": (source, entry), "L1/two": (source, entry), "L1/three": (source, entry)})
            index = json.loads((folder / "index.json").read_text())
            head = {"format": "nkigrid-benchmark", "version": 1, "name": "mine"}
            (folder / "index.json").write_text(json.dumps(head | index))
            git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b"]
            for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
                subprocess.run([*git, *words], check=True)
            command = [os.environ["NKIGRID"], "bench", "check", "--benchmark", folder, "--json"]
            unchanged = subprocess.run([*command, "--since", "HEAD"], capture_output=True, text=True)
            (folder / "tasks" / "L1" / "two.py").write_text(source.replace("self.alpha * y", "y * self.alpha"))
            (folder / "kernels" / "L1").mkdir(parents=True)
            (folder / "kernels" / "L1" / "three.py").write_text("def kernel(x, y):\n    return nothing\n")
            ran = subprocess.run([*command, "--since", "HEAD"], capture_output=True, text=True)
            lost = subprocess.run([*command, "--since", "nowhere"], capture_output=True, text=True)
            shutil.rmtree(folder / ".git")
            bare = subprocess.run([*command, "--since", "HEAD"], capture_output=True, text=True)
            one = subprocess.run([*command, "--task", "L1/o*"], capture_output=True, text=True)
        self.assertEqual((unchanged.returncode, json.loads(unchanged.stdout)["tasks"]), (0, []))
        told = {task["id"]: task for task in json.loads(ran.stdout)["tasks"]}
        self.assertEqual({i: t["ok"] for i, t in told.items()}, {"L1/two": True, "L1/three": False}, ran.stderr)
        self.assertIn("the known kernel fails to compile", told["L1/three"]["faults"][0])
        self.assertEqual(ran.returncode, 1)
        self.assertIn(f"--since is 'nowhere' (no commit of the repository '{folder.resolve()}')", lost.stderr)
        self.assertIn("(fatal: not a git repository", bare.stderr)
        self.assertEqual([t["id"] for t in json.loads(one.stdout)["tasks"]], ["L1/one"])
        self.assertEqual(json.loads(one.stdout)["summary"]["known_kernels"], 0)


if __name__ == "__main__":
    unittest.main()
