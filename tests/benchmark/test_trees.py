"""Trees that were not written for us (KernelBench's and NKIBench's form): on miniature trees that use each quirk there
is (tests/data/trees)."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np
import torch
from known_kernels import LIBEXEC, ROOT
from trees import TREE, TREES, program, text_of

sys.path.insert(0, str(LIBEXEC))
import pose_tasks  # noqa: E402
import reference_task  # noqa: E402
import task_pose  # noqa: E402

MOST = 1 << 30
torch.set_num_threads(1)


def posed(name):
    """The index entry of a task of the tree."""
    return task_pose.pose(text_of(name), name, "kernelbench", MOST)[0]


def inputs_of(entry):
    return [(i["name"], i["shape"], i["dtype"], i["role"]) for i in entry["inputs"]]


def outputs_of(entry):
    return [(o["shape"], o["dtype"]) for o in entry["outputs"]]


class Quirks(unittest.TestCase):
    """What each file of the tree means, by hand."""

    def test_attributes_of_the_class_are_no_constants(self):
        entry = posed("class_attributes")
        self.assertEqual((outputs_of(entry), entry["constants"]), ([([4], "float32")], []))

    def test_nested_lists_in_init_are_one_constant(self):
        entry = posed("nested_lists")
        self.assertEqual([c["value"] for c in entry["constants"]], ["[[5, 7], [9]]", "'tanh'"])
        self.assertEqual(inputs_of(entry)[1], ("layers_0_weight", [7, 5], "float32", "parameter"))
        self.assertEqual(outputs_of(entry), [([3, 9], "float32")])

    def test_a_last_dict_holds_the_keywords(self):
        entry = posed("keywords_in_init")
        self.assertEqual(entry["constants"], [{"name": "width", "value": "10"}, {"name": "eps", "value": "0.001"}])

    def test_a_dict_alone_holds_them_too(self):
        self.assertEqual([i[0] for i in inputs_of(posed("keywords_alone"))], ["x", "linear_weight"])

    def test_several_outputs_however_nested(self):
        wanted = [([5, 3], "float32"), ([5, 3], "int32"), ([1], "float32")]
        self.assertEqual(outputs_of(posed("several_outputs")), wanted)

    def test_other_names_for_torch_and_constants_at_module_level(self):
        entry = posed("f_alias")
        self.assertEqual((inputs_of(entry)[0][1], entry["inputs"][0]["domain"]), ([16, 16], "unit"))

    def test_tensors_of_a_tuple_are_arguments_of_their_own(self):
        entry = posed("tuple_input")
        self.assertEqual([i[0] for i in inputs_of(entry)[:3]], ["x", "state_0", "state_1"])
        self.assertEqual(entry["constants"], [{"name": "steps", "value": "3"}])

    def test_indices_are_bounded_by_what_they_are_drawn_below(self):
        item = posed("9_indices")["inputs"][0]
        self.assertEqual((item["dtype"], item["domain"], item["bound"]), ("int32", "index", 37))

    def test_bool_masks_arrive_as_bytes(self):
        items = posed("bool_mask")["inputs"]
        self.assertEqual([(i["dtype"], i["domain"], i["bound"]) for i in items],
                         [("float32", "positive", 0), ("uint8", "index", 2)])  # fmt: skip

    def test_a_draw_is_what_torch_gives_for_the_same_seed(self):
        for name in ("tuple_input", "not_contiguous", "keywords_in_init", "several_outputs", "bool_mask"):
            source, entry = text_of(name), posed(name)
            request = {"task": name, "source": source, "inputs": entry["inputs"], "outputs": entry["outputs"]}
            arguments, expected = reference_task.compute_trial(torch, request, 0, 5)
            names = {"__name__": "task"}
            torch.manual_seed(5)
            exec(source, names)
            init = names["get_init_inputs"]()
            model = names["Model"](10, eps=1e-3) if name == "keywords_in_init" else names["Model"](*init)
            given = names["get_inputs"]()
            with torch.no_grad():
                results = model(*given)
            if isinstance(results, dict):
                results = (results["values"], results["rest"][0], results["rest"][2])
            results = results if isinstance(results, tuple) else (results,)
            for (dtype, shape, data), wanted in zip(expected, results):
                self.assertEqual((list(wanted.shape) or [1], dtype), (shape, dtype), name)
                np.testing.assert_array_equal(data.reshape(-1), wanted.numpy().astype(dtype).reshape(-1), name)
            self.assertTrue(all(data.flags["C_CONTIGUOUS"] for _, _, data in arguments), name)


class Refusals(unittest.TestCase):
    """The whole tree through the program: what is posed, and why the rest is not."""

    WHY = {
        "L2/001_complex": "complex numbers (output 0 is complex64)",
        "L2/002_dynamic_shape": "dynamic shapes: what forward() gives has other shapes for other inputs",
        "L2/003_too_large": "too large (16384 MiB for inputs and weights alone; max_task_bytes is 1024 MiB)",
        "L2/004_newer_torch": "needs a newer torch than",
        "L2/005_random_forward": "forward() draws random numbers",
        "L2/006_training_mode": "training mode: forward() changes the model after eval()",
        "L2/007_missing_package": "needs the package 'a_package_that_nobody_has'",
        "L3/001_sizes_to_shrink": "too large (1064 MiB for inputs and weights alone",
    }

    def test_each_reason_is_told(self):
        told = json.loads(program("bench", "list", "--benchmark", TREE, "--json")[0])
        refused = {r["id"]: r["why"] for r in told["refused"]}
        self.assertEqual(set(refused), set(self.WHY))
        for task_id, why in self.WHY.items():
            self.assertTrue(refused[task_id].startswith(why), refused[task_id])
        self.assertEqual(len(told["tasks"]), 10)
        self.assertEqual(len(told["subsets"]["kernelbench"]), 10)

    def test_a_grid_takes_the_tree_as_it_is(self):
        with tempfile.TemporaryDirectory() as scratch:
            grid = pathlib.Path(scratch) / "grid.yaml"
            text = (ROOT / "configs" / "smoke.yaml").read_text()
            named = f"benchmark: {{path: {TREE}, format: kernelbench, max_task_bytes: 1 GiB}}"
            text = text.replace("benchmark: nkigen-bench", named).replace("tasks: nkigen-smoke", "tasks: kernelbench")
            grid.write_text(text)
            told = json.loads(program("check", grid, "--json")[0])
            self.assertEqual(told["tasks"], 10)
            grid.write_text(text.replace("tasks: kernelbench", "tasks: [L2/001_complex]"))
            self.assertIn("cannot be posed: complex numbers", program("check", grid, code=2)[1])
            grid.write_text(text.replace("1 GiB", "a lot"))
            self.assertIn("max_task_bytes is 'a lot' (a size is wanted", program("check", grid, code=2)[1])


class Degenerate(unittest.TestCase):
    """Tasks that an answer without work passes are posed and told by name."""

    FORM = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return {result}


def get_inputs():
    return [{draw}]


def get_init_inputs():
    return []
"""
    # KernelBench draws from 0 to 1, where ReLU is no work; some of its tasks cancel themselves out.
    TASKS = {
        "1_relu": ("torch.relu(x)", "torch.rand(64, 96)", ["copy"]),
        "2_relu_of_both_signs": ("torch.relu(x)", "torch.randn(64, 96)", []),
        "3_relu_in_place": ("torch.relu_(x)", "torch.randn(64, 96)", []),
        "4_nothing_is_left": ("x - x.mean(1, keepdim=True)", "torch.randn(64, 1)",
                              ["mean", "next-entry", "other-inputs", "zeros"]),  # fmt: skip
        "6_one_value": ("(x * x).mean()", "torch.randn(64, 3)", []),
        "5_only_the_copy_of_y": ("x[0] * 0 + x[1]", "(torch.randn(9, 9), torch.randn(9, 9))", ["copy"]),
    }

    def test_they_are_told_by_name_and_have_tags(self):
        with tempfile.TemporaryDirectory() as scratch:
            level, out = pathlib.Path(scratch) / "tree" / "level1", pathlib.Path(scratch) / "own"
            level.mkdir(parents=True)
            for name, (result, draw, _) in self.TASKS.items():
                (level / f"{name}.py").write_text(self.FORM.format(result=result, draw=draw))
            told = json.loads(program("bench", "import", level.parent, "-o", out, "--json")[0])
            wanted = {f"L1/00{name}": passes for name, (_, _, passes) in self.TASKS.items() if passes}
            self.assertEqual({d["id"]: d["passes"] for d in told["degenerate"]}, wanted)
            self.assertEqual(told["levels"], {"L1": {"posed": 6, "degenerate": 3, "refused": 0}})
            tagged = program("bench", "list", "--benchmark", out, "--tag", "passes-copy")[0].split("\n")
            self.assertEqual([line.split()[0] for line in tagged if line], ["L1/001_relu", "L1/005_only_the_copy_of_y"])
            words = program("bench", "import", level.parent, "-o", str(out) + "2")[0]
        self.assertIn("L1: 6 posed (3 degenerate), 0 refused", words)
        self.assertRegex(words, r"L1/001_relu +degenerate: passes with copy\n")


class Costs(unittest.TestCase):
    """What posing a task that is small to hold and dear to run costs."""

    DEAR = """
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return (x @ x) * nn.Module.COUNTED()


def get_inputs():
    return [torch.rand(ROWS, ROWS)]


def get_init_inputs():
    return []
"""

    def test_a_dear_reference_is_not_run_where_shapes_are_told_without(self):
        runs = []
        torch.nn.Module.COUNTED = lambda: runs.append(1) or 1.0
        self.addCleanup(delattr, torch.nn.Module, "COUNTED")
        for rows, dear in ((900, False), (1100, True)):  # 2 rows^3 FLOPs; one run is without bytes, one a repetition
            text = self.DEAR.replace("ROWS", str(rows))
            runs.clear()
            entry, about = task_pose.pose(text, "dear", "other", MOST)
            found = (entry["outputs"][0]["shape"], entry["inputs"][0]["domain"], about["flops"] > 2e9, len(runs))
            self.assertEqual(found, ([rows, rows], "probability", dear, 1 if dear else 2 + task_pose.DRAWS))

    ENDLESS = """
import child_sandbox, sys


def work():
    while True:
        pass


walls = child_sandbox.Sandbox(sys.argv[1], False, child_sandbox.readable_folders())
try:
    walls.run(work, 1 << 34, 1, 10)
except child_sandbox.ChildEnded as error:
    print(error)
"""

    def test_what_needs_too_long_says_so(self):
        library = str(LIBEXEC / "libnkigrid_sandbox.so")
        ran = subprocess.run([sys.executable, "-c", self.ENDLESS, library], capture_output=True, text=True, cwd=LIBEXEC)
        self.assertEqual(ran.stdout, "needs more than 1 s of a processor\n", ran.stderr)

    def test_a_task_that_answers_for_itself_changes_neither_its_text_nor_what_is_counted(self):
        task = {"id": "L1/a", "source": "x = 1\n"}
        said = {"entry": {"id": "L1/a"}, "about": {"flops": 2.0, "title": "a"}, "source": "x = 1\n"}
        self.assertEqual(pose_tasks.checked(task, False, said), {"id": "L1/a", **said})
        for change in (
            {"source": "y = 1\n"},
            {"about": {"flops": -1}},
            {"about": {"roofline_us": 1e300}},
            {"about": {"flops": float("nan")}},
            {"entry": {"id": "L1/b"}},
        ):
            with self.assertRaises(ValueError):
                pose_tasks.checked(task, False, said | change)
        self.assertEqual(len(pose_tasks.checked(task, False, {"refused": "A" * 4_000_000})["refused"]), 400)

    def test_what_sleeps_does_not_hang_its_reader(self):
        library = str(LIBEXEC / "libnkigrid_sandbox.so")
        drip = "while True:\n        time.sleep(0.1)\n        sum(range(1000))"  # some of a processor, now and then
        for code in ("time.sleep(100000)", drip):
            asleep = self.ENDLESS.replace("import child_sandbox, sys\n", "import child_sandbox, sys, time\n")
            asleep = asleep.replace("while True:\n        pass", code)
            asleep = asleep.replace("walls =", "child_sandbox.IDLE_SECONDS = 0.5\nwalls =")
            command = [sys.executable, "-c", asleep, library]
            ran = subprocess.run(command, capture_output=True, text=True, cwd=LIBEXEC, timeout=60)
            self.assertEqual(ran.stdout, "its code slept for 0.5 s; no reference waits for anything\n", ran.stderr)


def processes_that_name(path):
    """The processes with this text in their command line."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if str(path).encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:  # it has ended meanwhile
            continue
    return found


def wait_until(condition, seconds=60):
    """Polls; the deadline only bounds a failure."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"did not come true in {seconds} s")
        time.sleep(0.02)


class Stopped(unittest.TestCase):
    def test_an_import_that_is_stopped_leaves_no_children_and_no_folder(self):
        with tempfile.TemporaryDirectory() as box:
            tree, scratch = pathlib.Path(box) / "tree", pathlib.Path(box) / "scratch"
            scratch.mkdir()
            shutil.copytree(TREE, tree, dirs_exist_ok=True)
            endless = "\n\ndef get_inputs():\n    while True:\n        pass\n"
            for task in tree.glob("level1/*.py"):
                task.write_text(task.read_text() + endless)
            words = [os.environ["NKIGRID"], "bench", "import", str(tree), "-o", str(pathlib.Path(box) / "out")]
            for number in (signal.SIGTERM, signal.SIGINT):
                program = subprocess.Popen(
                    words, env=os.environ | {"TMPDIR": str(scratch)}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
                )
                wait_until(lambda: processes_that_name(scratch) or program.poll() is not None)
                program.send_signal(number)
                program.communicate(timeout=60)
                self.assertEqual(program.returncode, -number)
                self.assertEqual(list(scratch.glob("nkigrid.*")), [])
                wait_until(lambda: not processes_that_name(scratch))

    def test_an_import_that_is_killed_leaves_no_children(self):
        with tempfile.TemporaryDirectory() as box:
            tree, scratch = pathlib.Path(box) / "tree", pathlib.Path(box) / "scratch"
            scratch.mkdir()
            shutil.copytree(TREE, tree, dirs_exist_ok=True)
            for task in tree.glob("level1/*.py"):
                task.write_text(task.read_text() + "\n\ndef get_inputs():\n    while True:\n        pass\n")
            words = [os.environ["NKIGRID"], "bench", "import", str(tree), "-o", str(pathlib.Path(box) / "out")]
            program = subprocess.Popen(
                words, env=os.environ | {"TMPDIR": str(scratch)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            wait_until(lambda: processes_that_name(scratch) or program.poll() is not None)
            program.kill()
            self.assertEqual(program.wait(timeout=60), -signal.SIGKILL)
            wait_until(lambda: not processes_that_name(scratch))


class NumpyForm(unittest.TestCase):
    def test_kernels_get_what_the_transformation_gives(self):
        with tempfile.TemporaryDirectory() as scratch:
            out = pathlib.Path(scratch) / "own"
            told = json.loads(program("bench", "import", TREES / "nkibench", "-o", out, "--json")[0])
            self.assertEqual([r["id"] for r in told["refused"]], ["nkibench/computes_M6"])
            self.assertIn("only a change of layout can be posed", told["refused"][0]["why"])
            entries = {e["id"]: e for e in json.loads((out / "index.json").read_text())["tasks"]}
            rows = entries["nkibench/scaled_rows_M6_N4"]
            self.assertEqual(inputs_of(rows), [("x", [2, 2, 6], "float32", "input"), ("g", [1, 4], "float32", "input")])
            self.assertEqual(outputs_of(rows), [([6, 4], "float32")])
            self.assertEqual(rows["constants"], [{"name": "eps", "value": "1e-05"}])
            self.assertEqual(len(entries["nkibench/two_results_M6"]["outputs"]), 2)
            source = (out / "tasks" / "nkibench" / "scaled_rows_M6_N4.py").read_text()
        request = {"task": "t", "source": source, "inputs": rows["inputs"], "outputs": rows["outputs"]}
        arguments, expected = reference_task.compute_trial(torch, request, 0, 3)
        x = arguments[0][2].reshape(4, 6).T.astype(np.float64)
        g = arguments[1][2].reshape(4).astype(np.float64)
        wanted = x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-5) * g
        np.testing.assert_allclose(expected[0][2], wanted, rtol=1e-5)


if __name__ == "__main__":
    unittest.main()
