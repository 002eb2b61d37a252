"""What the verbs do about a log that is not what a writer leaves: nothing is counted wrongly without a sign. Files are
changed with stock h5py, and sums are made with numpy."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

import h5py

sys.path.insert(0, str(pathlib.Path(os.environ["NKIGRID_SOURCE_DIR"]) / "tests/cli"))
from harness import SMALL, Case, nkigrid  # noqa: E402

MAKE_RUN = os.environ["NKIGRID_MAKE_RUN"]
EPISODES = 48  # of the small grid: 8 of each six kinds


class LogTruth(Case):
    def setUp(self):
        super().setUp()
        self.run_folder = self.make_run("run")
        self.log = self.run_folder / "log"

    def make_run(self, name):
        folder = self.folder / name
        made = subprocess.run([MAKE_RUN, str(SMALL), str(folder)], capture_output=True, text=True, check=False)
        self.assertEqual(made.returncode, 0, made.stderr)
        return folder

    def seal(self):
        done = nkigrid("seal", self.run_folder)
        self.assertEqual(done.returncode, 0, done.stderr)

    def rows(self, *options, run=None):
        done = nkigrid("export", run or self.run_folder, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def refused_by_all(self, *words):
        """Every verb that reads the log gives it up with exit 3 and these words."""
        for verb in (["tables"], ["tables", "--table", "cost"], ["export", "--turns"]):
            self.check_refused(nkigrid(*verb, self.run_folder), 3, *words)
        check = nkigrid("log", "check", self.run_folder)
        self.check_refused(check, 3, "damaged")
        for word in words:
            self.assertIn(word, check.stdout)


class Births(LogTruth):
    def test_a_journal_cut_before_its_head_is_no_empty_log(self):
        journal = self.log / "made.journal"
        whole = journal.read_bytes()
        head = 16 + 24 + int.from_bytes(whole[32:36], "little")  # docs/formats/journal.md, Layout
        for length in (0, 7, 16, head - 1):
            journal.write_bytes(whole[:length])
            done = nkigrid("log", "check", self.run_folder, "--json")
            self.check_refused(done, 3, "1 of 2 log files")
            self.assertIn("neither its head", json.loads(done.stdout)["files"][1]["error"])
            self.check_refused(nkigrid("tables", self.run_folder), 3, "made.journal", "neither its head")
        sealed = nkigrid("seal", self.run_folder)
        self.assertEqual(sealed.returncode, 0, sealed.stderr)
        self.assertIn("neither its head", sealed.stderr)
        self.assertFalse((self.log / "made.h5").exists(), "an empty segment hides the loss")
        self.assertTrue((self.log / "damaged/made.journal").exists())
        self.assertEqual({row["outstanding"] for row in self.rows()}, {"pending", "killed"})

    def test_a_head_without_a_record_is_sound_and_leaves_no_segment(self):
        journal = self.log / "made.journal"
        whole = journal.read_bytes()
        journal.write_bytes(whole[: 16 + 24 + int.from_bytes(whole[32:36], "little")])
        self.assertEqual(nkigrid("log", "check", self.run_folder).returncode, 0)
        self.seal()
        self.assertFalse((self.log / "made.h5").exists() or journal.exists())


class Contradictions(LogTruth):
    def change(self, column, row, value, file="made.h5"):
        with h5py.File(self.log / file, "r+") as segment:
            segment[column][row] = value

    def row_of(self, outcome):
        with h5py.File(self.log / "made.h5") as segment:
            return list(segment["episodes/outcome"][:]).index(outcome)

    def test_a_pass_that_did_not_pass_is_corrupt_and_run_again(self):
        self.seal()
        before = self.rows()
        self.change("episodes/passed", self.row_of(b"pass"), 0)
        self.refused_by_all("made.h5", "passed and outcome")
        sealed = nkigrid("seal", self.run_folder)
        self.check_refused(sealed, 3, "could not be saved")
        self.assertIn("1 rows lost", sealed.stderr)
        self.assertEqual(nkigrid("log", "check", self.run_folder).returncode, 0)
        after = self.rows()
        changed = [(a, b) for a, b in zip(before, after) if a != b]
        self.assertEqual([(a["outcome"], b["outstanding"]) for a, b in changed], [("pass", "killed")])

    def test_columns_of_one_row_that_disagree_are_corrupt(self):
        self.seal()
        passed, failed = self.row_of(b"pass"), self.row_of(b"mismatch")
        whole = (self.log / "made.h5").read_bytes()
        for column, row, value, found in (
            ("episodes/outcome", passed, b"mismatch", "passed and outcome"),
            ("episodes/strict_passed", failed, 1, "strict_passed and passed"),
            ("episodes/best_strict_passed", failed, 1, "best_strict_passed and best_passed"),
            ("episodes/code", passed, b"OOB", "outcome and code"),
            ("episodes/code", failed, b"", "stage and code"),
            ("episodes/line", passed, 7, "line and code"),
            ("episodes/ended_by", passed, b"", "ended_by and outcome"),
            ("episodes/inherited_turns", passed, 99, "inherited_turns and turns"),
            ("episodes/turns", passed, 0, "turns and outcome"),
        ):
            self.change(column, row, value)
            self.check_refused(nkigrid("tables", self.run_folder), 3, "made.h5", f"row {row}", found)
            (self.log / "made.h5").write_bytes(whole)
        self.change("turns/compile_ok", 0, 0)
        for table in ("cost", "transitions"):
            self.check_refused(nkigrid("tables", self.run_folder, "--table", table), 3, "code and a check that failed")

    def test_columns_that_only_strangers_read_are_proved_by_log_check(self):
        self.seal()
        before = self.rows("--turns")
        whole = (self.log / "made.h5").read_bytes()
        for column, value in (
            ("episodes/cell", b"another.ss.rank-aware"),
            ("episodes/replicate", 77),
            ("episodes/group", b"SHAPE"),
            ("turns/group", b"SHAPE"),
            ("turns/episode", b"another"),
            ("turns/attempt", 9),
        ):
            self.change(column, 1, value)
            self.check_refused(nkigrid("log", "check", self.run_folder), 3, "1 of 3 log files")
            self.assertEqual(nkigrid("seal", self.run_folder).returncode, 0, "what it repeats is whole")
            self.assertEqual(nkigrid("log", "check", self.run_folder).returncode, 0)
            self.assertEqual(self.rows("--turns"), before)
            (self.log / "made.h5").write_bytes(whole)


if __name__ == "__main__":
    unittest.main()
