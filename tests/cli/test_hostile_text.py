"""Text that somebody else wrote, printed by every verb in every form: nothing of it steers a terminal, becomes a
formula, a cell border or a command; what it says can still be read."""
import csv
import io
import json
import shutil
import unicodedata
import unittest

import harness
from harness import Case, nkigrid

# Escape, C1 control sequence, bidi override, zero width; a formula; Markdown, LaTeX and HTML of its own.
HOSTILE = "=cmd|'/C calc'!A1 \x1b[2J \u009b2J \u202edaeh \u200b | `x` \\input{/etc/passwd} & <script>alert(1)</script>"
READ_BY_PEOPLE = ("text", "markdown", "latex")  # csv and json are data: they say exactly what was written


def steers(text):
    """The characters of a text that a terminal obeys or hides."""
    return [c for c in text if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")]


class HostileText(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case = cls("runTest")
        case.setUp()
        cls.addClassCleanup(shutil.rmtree, case.folder, ignore_errors=True)
        cls.tree = case.folder / "tree"
        shutil.copytree(harness.SOURCE / "configs" / "nkigen-bench", cls.tree)
        index = json.loads((cls.tree / "index.json").read_text())
        for task in index["tasks"]:
            task["category"] = HOSTILE
        (cls.tree / "index.json").write_text(json.dumps(index))
        grid = harness.SMALL.read_text().replace("benchmark: nkigen-bench", f"benchmark: {cls.tree}")
        cls.grid = case.write("grid.yaml", grid.replace("L1/00[1-4]_*", "L1/001_*").replace("replicates: 2", ""))
        cls.run_folder = case.folder / "run"
        done = nkigrid("run", cls.grid, "-o", cls.run_folder, "-q")
        assert done.returncode == 0, done.stderr

    def runTest(self):
        pass

    def test_no_verb_lets_it_steer_the_terminal(self):
        episode = json.loads(nkigrid("export", self.run_folder).stdout.splitlines()[0])["episode"]
        verbs = [("bench", "list", "--benchmark", self.tree), ("bench", "show", "L1/001_add", "--benchmark", self.tree)]
        verbs += [
            ("check", self.grid),
            ("plan", self.grid),
            ("status", self.run_folder),
            ("log", "check", self.run_folder),
        ]
        verbs += [("show", self.run_folder, episode)]
        for verb in verbs:
            done = nkigrid(*verb)
            self.assertEqual((done.returncode, steers(done.stdout + done.stderr)), (0, []), (verb, done.stderr))

    def test_no_table_does_in_any_form(self):
        for form in READ_BY_PEOPLE:
            for table in ("categories", "cells"):
                done = nkigrid("tables", self.run_folder, "--table", table, "--format", form)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(steers(done.stdout), [], (form, table))

    def table(self, form):
        return nkigrid("tables", self.run_folder, "--table", "categories", "--format", form).stdout

    def test_json_and_csv_say_what_was_written(self):
        rows = json.loads(self.table("json"))["categories"]
        self.assertIn(HOSTILE, [row["category"] for row in rows])
        fields = [row["category"] for row in csv.DictReader(io.StringIO(self.table("csv")))]
        self.assertIn("'" + HOSTILE, fields)  # the apostrophe makes it text

    def test_markdown_and_latex_keep_their_columns(self):
        rows = [line for line in self.table("markdown").splitlines() if line.startswith("|")]
        borders = {line.replace("\\|", "").count("|") for line in rows}
        self.assertEqual(len(borders), 1, borders)
        self.assertNotRegex(self.table("markdown"), r"(?<!\\)<script>")
        latex = self.table("latex")
        self.assertNotIn("\\input", latex)
        line = next(line for line in latex.splitlines() if "calc" in line)
        self.assertIn("\\textbackslash{}input\\{", line)
        self.assertIn("\\&", line)

    def test_errors_on_stderr_are_printable(self):
        done = nkigrid("bench", "show", "L1/\x1b[2J\u202e", "--benchmark", self.tree)
        self.assertEqual((done.returncode, steers(done.stderr)), (2, []))
        self.assertIn("\\x1b[2J\\u{202e}", done.stderr)


if __name__ == "__main__":
    unittest.main()
