"""seal, log check and export through the real binary, over a log that make_run.cpp wrote by hand."""
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(os.environ["NKIGRID_SOURCE_DIR"]) / "tests/cli"))
from harness import SMALL, Case, nkigrid  # noqa: E402

MAKE_RUN = os.environ["NKIGRID_MAKE_RUN"]
EPISODES = 48  # of the small grid: 8 of each six kinds


class LogVerbs(Case):
    def setUp(self):
        super().setUp()
        self.run_folder = self.folder / "run"
        made = subprocess.run([MAKE_RUN, str(SMALL), str(self.run_folder)], capture_output=True, text=True, check=False)
        self.assertEqual(made.returncode, 0, made.stderr)

    def log_files(self):
        return sorted(p.name for p in (self.run_folder / "log").iterdir())

    def rows(self, *options):
        done = nkigrid("export", self.run_folder, "--format", "jsonl", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_seal_removes_the_journals_whose_attempts_have_ended(self):
        done = nkigrid("seal", self.run_folder, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout), {"version": 1, "segments": ["killed.h5", "made.h5"]})
        self.assertEqual(self.log_files(), ["killed.h5", "killed.journal", "made.h5"])
        again = nkigrid("seal", self.run_folder)
        self.assertEqual((again.returncode, again.stdout), (0, ""))

    def test_export_is_the_same_before_and_after_sealing(self):
        before, turns_before = self.rows(), self.rows("--turns", "--texts")
        self.assertEqual(nkigrid("seal", self.run_folder).returncode, 0)
        self.assertEqual(self.rows(), before)
        by_turn = lambda row: (row["episode"], row["attempt"], row["turn"])  # noqa: E731
        self.assertEqual(sorted(self.rows("--turns", "--texts"), key=by_turn), sorted(turns_before, key=by_turn))

    def test_export_has_every_planned_episode(self):
        rows = self.rows()
        self.assertEqual(len(rows), EPISODES)
        self.assertEqual(len({row["episode"] for row in rows}), EPISODES)
        outcomes = [row["outcome"] for row in rows]
        self.assertEqual(outcomes[:6], ["pass", "mismatch", "mismatch", "mismatch", None, None])
        self.assertEqual([row["outstanding"] for row in rows[:6]], [None, None, None, None, "api_error", "killed"])
        self.assertEqual(rows[0]["passed"], 1)
        self.assertIsNone(rows[1]["max_abs_err"], "NaN is no JSON number")
        self.assertEqual(rows[1]["group"], "NUMERIC")
        self.assertIsNone(rows[4]["passed"])
        self.assertEqual(rows[0]["cell"], "novice.ss.rank-aware")
        self.assertEqual((rows[0]["model"], rows[0]["mode"], rows[0]["prompt"]), ("novice", "ss", "rank-aware"))

    def test_export_of_turns_marks_the_unanswered_and_the_uncounted(self):
        rows = self.rows("--turns")
        self.assertEqual(len(rows), 8 * (2 + 3 + 1 + 1))
        unanswered = [row for row in rows if not row["answered"]]
        self.assertEqual(len(unanswered), 8)
        self.assertTrue(all(row["tokens_in"] == 7 and row["event"] is None and row["counted"] == 0 for row in unanswered))
        self.assertNotIn("reply", rows[0])
        texts = self.rows("--turns", "--texts")
        self.assertIn('a, "b"\nc', [row["reply"] for row in texts])
        self.assertIn("kernel " + texts[0]["episode"], [row["kernel"] for row in texts])

    def test_csv_says_what_jsonl_says(self):
        done = nkigrid("export", self.run_folder, "--format", "csv", "--turns", "--texts")
        table = list(csv.DictReader(io.StringIO(done.stdout)))
        rows = self.rows("--turns", "--texts")
        self.assertEqual(len(table), len(rows))
        for cells, row in zip(table, rows):
            self.assertEqual(list(cells), list(row))
            for name, value in row.items():
                self.assertEqual(cells[name], "" if value is None else str(value) if isinstance(value, str) else cells[name])
                if isinstance(value, (int, float)):
                    self.assertEqual(float(cells[name]), value, name)

    def test_log_check_counts_and_is_content(self):
        done = nkigrid("log", "check", self.run_folder, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        files = {f["file"]: f for f in json.loads(done.stdout)["files"]}
        self.assertEqual(files["made.journal"]["records"], 8 * (6 + 3 * 4 + 4))
        self.assertEqual(files["killed.journal"]["records"], 16)
        self.assertIn("made.journal", nkigrid("log", "check", self.run_folder).stdout)

    def test_log_check_finds_a_flipped_byte(self):
        path = self.run_folder / "log/made.journal"
        data = bytearray(path.read_bytes())
        data[5000] ^= 1
        path.write_bytes(data)
        done = nkigrid("log", "check", self.run_folder, "--json")
        self.check_refused(done, 3, "1 of 2 log files", "damaged")
        report = json.loads(done.stdout)
        self.assertEqual(report["damaged"], 1)
        self.assertGreater(report["files"][1]["damaged_bytes"], 0)
        warned = nkigrid("export", self.run_folder)
        self.assertEqual(warned.returncode, 0)
        self.assertIn("made.journal' is damaged", warned.stderr)

    def test_what_is_not_there_is_refused(self):
        self.check_refused(nkigrid("export", self.run_folder, "--format", "sft"), 2, "sft", "not in this version", "--turns --texts")
        self.check_refused(nkigrid("export", self.run_folder, "--format", "inspect"), 2, "not in this version")
        self.check_refused(nkigrid("export", self.run_folder, "--format", "json"), 2, "did you mean 'jsonl'")
        self.check_refused(nkigrid("export", self.run_folder, "--texts"), 2, "--turns")
        for verb in (["seal"], ["log", "check"], ["export"]):
            self.check_refused(nkigrid(*verb, self.folder), 2, "run")


if __name__ == "__main__":
    unittest.main()
