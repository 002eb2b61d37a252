"""Folders of one's own, and duplicates within and between folders."""

import json
import pathlib
import shutil
import sys
import tempfile
import unittest
import unittest.mock

from known_kernels import BENCH, LIBEXEC
from trees import program, text_of

sys.path.insert(0, str(LIBEXEC))
import overlap_tasks  # noqa: E402
import task_behaviour  # noqa: E402
import task_text  # noqa: E402


class OwnFolder(unittest.TestCase):
    def setUp(self):
        self.box = tempfile.TemporaryDirectory()
        self.addCleanup(self.box.cleanup)
        self.folder = pathlib.Path(self.box.name) / "mine"

    def write(self, task_id, text):
        file = self.folder / "tasks" / f"{task_id}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def list(self):
        return program("bench", "list", "--benchmark", self.folder)

    def test_an_index_is_made_when_there_is_none_and_when_it_is_stale(self):
        add = (BENCH / "tasks" / "L1" / "001_add.py").read_text()
        self.write("L1/one", add)
        self.assertIn("making index.json of the 1 tasks", self.list()[1])
        self.assertNotIn("index.json", self.list()[1])
        self.write("L2/two", add.replace("0.5", "0.25"))
        self.write("L1/one", add.replace("300", "310"))
        out, err = self.list()
        self.assertIn("is stale (1 tasks new, 1 changed, 0 gone): making it again", err)
        self.assertIn("[310,700] float32", out)
        (self.folder / "tasks" / "L2" / "two.py").unlink()
        self.assertIn("1 gone", self.list()[1])

    def test_a_file_of_no_level_is_not_passed_over(self):
        self.write("L1/one", (BENCH / "tasks" / "L1" / "001_add.py").read_text())
        self.write("stray", "")
        words = program("bench", "list", "--benchmark", self.folder, code=2)[1]
        self.assertIn("'tasks/stray.py' of", words)
        self.assertIn("move it, e.g. to tasks/L1/stray.py", words)

    def test_a_task_that_cannot_be_posed_is_named_with_its_reason(self):
        self.write("L1/odd", text_of("2_dynamic_shape"))
        said = program("bench", "list", "--benchmark", self.folder, code=2)[1]
        self.assertIn("tasks/L1/odd.py: dynamic shapes", said)

    def test_a_new_task_is_made_checked_and_indexed_in_one_step(self):
        program("bench", "new", "L1/fresh", "--benchmark", self.folder)
        task = self.folder / "tasks" / "L1" / "fresh.py"
        self.assertIn("is there already", program("bench", "new", "L1/fresh", "--benchmark", self.folder, code=2)[1])
        out, _ = program("bench", "add", task, "--benchmark", self.folder)
        self.assertIn("1 tasks, 0 with a fault, 1 with a known kernel", out)
        self.assertIn("L1/fresh", self.list()[0])
        words = program("bench", "list", "--benchmark", self.folder, "--tag", "raged", code=2)[1]
        self.assertIn("no tag 'raged' (did you mean 'ragged'?)", words)
        self.assertNotIn("index.json", self.list()[1])

    def test_a_task_with_a_fault_is_not_added(self):
        outside = pathlib.Path(self.box.name) / "L2" / "dead.py"
        outside.parent.mkdir()
        add = (BENCH / "tasks" / "L1" / "001_add.py").read_text()
        outside.write_text(add.replace("x + self.alpha * y", "x + 0.0 * y * y"))
        out, err = program("bench", "add", outside, "--benchmark", self.folder, code=1)
        self.assertIn("L2/dead", out)
        self.assertIn("the last entry of axis 0 changes nothing", out)
        self.assertIn("'L2/dead' is not added", err)
        self.assertFalse(self.folder.exists())


class Overlap(unittest.TestCase):
    ADD = (BENCH / "tasks" / "L1" / "001_add.py").read_text()

    def test_the_same_program_under_other_names_is_exact(self):
        other = self.ADD.replace("alpha", "weight").replace("rows", "r").replace('"""', "'''")
        self.assertNotEqual(other, self.ADD)
        self.assertEqual(task_text.tree_digest(other), task_text.tree_digest(self.ADD))
        self.assertNotEqual(task_text.tree_digest(self.ADD.replace("0.5", "0.25")), task_text.tree_digest(self.ADD))
        self.assertNotEqual(
            task_text.tree_digest(self.ADD.replace(" + self", " - self")), task_text.tree_digest(self.ADD)
        )

    def test_near_is_the_share_of_common_grams(self):
        words = "a b c d e f g h i j k l".split()
        one, two = " ".join(words), " ".join([*words[:-1], "z"])
        texts = [[{"id": "a", "source": one}], [{"id": "b", "source": two}]]
        # 12 words have 8 grams of 5; a changed last word changes one of them: 7 of 9 are common
        self.assertEqual([round(score, 4) for *_, score in task_text.near_pairs(*texts, 0.5)], [0.7778])
        self.assertEqual(list(task_text.near_pairs(*texts, 0.8)), [])

    def test_all_three_kinds_are_told_and_nothing_else(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            (folder / "exact.py").write_text(self.ADD.replace("alpha", "weight"))
            (folder / "near.py").write_text(self.ADD.replace("return [0.5]", "return [0.75]"))
            same = self.ADD.replace("x + self.alpha * y", "torch.add(x, torch.mul(y, self.alpha))")
            same = same.replace("rows", "height").replace("cols", "width").replace("nn.Module", "torch.nn.Module")
            (folder / "behaves.py").write_text(
                "from math import pi\n\nUNUSED = [pi, 2 * pi, 3 * pi, 4 * pi]\n" * 4 + same
            )
            (folder / "other.py").write_text((BENCH / "tasks" / "L3" / "003_bottleneck.py").read_text())
            own = folder / "own" / "tasks" / "L1"
            own.mkdir(parents=True)
            shutil.copy(BENCH / "tasks" / "L1" / "001_add.py", own / "add.py")
            program("bench", "list", "--benchmark", folder / "own")
            other = folder / "other"
            other.mkdir()
            for name in ("exact", "near", "behaves", "other"):
                shutil.move(folder / f"{name}.py", other / f"{name}.py")
            told = json.loads(program("bench", "overlap", folder / "own", other, "--json", code=1)[0])
        found = {(p["how"], p["b"]) for p in told["pairs"]}
        self.assertEqual(told["ran"], {"a": 1, "b": 4})
        self.assertEqual(found, {("exact", "exact.py"), ("near", "near.py"), ("behaviour", "behaves.py")})

    DOUBLE = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2


def get_inputs():
    return [torch.randn(ROWS, 64)]


def get_init_inputs():
    return []
"""

    def test_only_what_may_be_the_same_is_run(self):
        rows = {"alone": 3, "one": 5, "two": 5}
        texts = [{"id": name, "source": self.DOUBLE.replace("ROWS", str(n))} for name, n in rows.items()]
        ran = []
        with unittest.mock.patch.object(overlap_tasks, "ask", lambda _, act, checked, *__: checked(act())):
            with unittest.mock.patch.object(task_behaviour, "behaviour", lambda source: ran.append(source)):
                inside = overlap_tasks.behaviours(None, texts, None)
                between = overlap_tasks.behaviours(None, texts[:1], texts[1:])
        self.assertEqual([text.count("randn(5, 64)") for text in ran], [1, 1])
        self.assertEqual((inside[2:], between[2:]), ((1, 1), (1, 2)))  # what was run here told nothing

    def test_no_two_tasks_of_the_benchmark_are_the_same_text(self):
        texts = [{"id": str(p), "source": p.read_text()} for p in sorted((BENCH / "tasks").glob("*/*.py"))]
        pairs = [p for p in task_text.exact_pairs(texts, texts) if p[0] < p[1]]
        self.assertEqual(pairs, [])


if __name__ == "__main__":
    unittest.main()
