"""seal, log check and export through the real binary, over a log that make_run.cpp wrote by hand."""
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import unittest
import zlib

import h5py
import numpy as np

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
        self.assertEqual(json.loads(done.stdout), {"version": 1, "segments": ["killed.h5", "made.h5"], "salvaged": []})
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
        self.assertTrue(
            all(row["tokens_in"] == 7 and row["event"] is None and row["counted"] == 0 for row in unanswered)
        )
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
                self.assertEqual(
                    cells[name], "" if value is None else str(value) if isinstance(value, str) else cells[name]
                )
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

    def damage(self, name, change):
        path = self.run_folder / "log" / name
        data = bytearray(path.read_bytes())
        change(data)
        path.write_bytes(data)

    def check_sealed_away(self, name, *words, lost=True):
        """Damage is an error until `seal` has saved the rest (which fails once where records are lost); then it is
        known, and no error any more."""
        self.check_refused(nkigrid("log", "check", self.run_folder), 3, "damaged", "nkigrid seal")
        sealed = nkigrid("seal", self.run_folder)
        self.assertEqual(sealed.returncode, 3 if lost else 0, sealed.stderr)
        self.assertIn("set aside", sealed.stderr)
        self.assertEqual("could not be saved" in sealed.stderr.splitlines()[-1], lost, sealed.stderr)
        again = nkigrid("log", "check", self.run_folder, "--json")
        self.assertEqual(again.returncode, 0, again.stderr)
        notes = {note["file"]: note for note in json.loads(again.stdout)["set_aside"]}
        self.assertIn(name, notes)
        for word in words:
            self.assertIn(word, notes[name]["reason"])
        self.assertTrue((self.run_folder / "log/damaged" / name).exists())
        self.assertIn(f"set aside: damaged/{name}", nkigrid("log", "check", self.run_folder).stdout)
        return notes[name]

    def test_a_journal_with_flipped_bytes_is_sealed_and_set_aside(self):
        whole = len(self.rows("--turns"))

        def flip(data):
            data[5000] ^= 1
            data[9000] ^= 128

        self.damage("made.journal", flip)
        note = self.check_sealed_away("made.journal", "sealed in made.h5")
        self.assertGreater(note["damaged_bytes"], 0)
        self.assertEqual(note["records"] + note["missing_records"], 8 * (6 + 3 * 4 + 4))
        self.assertGreater(len(self.rows("--turns")), whole // 2)

    def test_zero_blocks_in_the_middle_of_a_journal_cost_only_themselves(self):
        def zero(data):
            data[8192:12288] = bytes(4096)

        self.damage("made.journal", zero)
        note = self.check_sealed_away("made.journal")
        self.assertGreaterEqual(note["damaged_bytes"], 4096)
        self.assertGreater(note["records"], 0)

    def test_a_torn_tail_is_no_damage(self):
        self.damage("made.journal", lambda data: data.__delitem__(slice(len(data) - 7, None)))
        self.assertEqual(nkigrid("log", "check", self.run_folder).returncode, 0)
        self.assertEqual(nkigrid("seal", self.run_folder).returncode, 0)
        self.assertFalse((self.run_folder / "log/damaged").exists())

    def test_a_segment_with_a_damaged_text_keeps_its_rows(self):
        self.assertEqual(nkigrid("seal", self.run_folder).returncode, 0)
        before = self.rows()
        import h5py

        with h5py.File(self.run_folder / "log/made.h5") as file:
            at = file["text"].id.get_chunk_info(0).byte_offset
        self.damage("made.h5", lambda data: data.__setitem__(at + 40, data[at + 40] ^ 255))
        self.check_sealed_away("made.h5", "records saved", "texts lost")
        self.assertEqual(self.rows(), before)

    def test_a_segment_that_lost_its_end_is_made_anew_from_its_journal_or_given_up(self):
        self.assertEqual(nkigrid("seal", self.run_folder).returncode, 0)
        before = self.rows("--turns")
        cut = lambda data: data.__delitem__(slice(len(data) // 2, None))  # noqa: E731
        self.damage("killed.h5", cut)
        self.check_sealed_away("killed.h5", "made anew from its journal", lost=False)
        self.assertEqual(self.rows("--turns"), before)
        self.damage("made.h5", cut)
        self.check_sealed_away("made.h5", "lost")
        self.assertEqual({row["outstanding"] for row in self.rows()}, {"pending", "killed"})
        self.assertEqual(list((self.run_folder / "log").glob("*.whole-length")), [])

    def test_a_segment_that_lost_its_last_bytes_keeps_what_stands_before_them(self):
        self.assertEqual(nkigrid("seal", self.run_folder).returncode, 0)
        before = self.rows("--turns")
        self.damage("made.h5", lambda data: data.__delitem__(slice(len(data) - 10, None)))
        self.check_sealed_away("made.h5", "records saved", lost=False)  # what was cut off held nothing
        self.assertEqual(self.rows("--turns"), before)

    def test_a_file_of_nobody_is_set_aside_and_a_newer_ones_is_not_touched(self):
        (self.run_folder / "log/note.h5").write_text("not a segment at all")
        self.check_sealed_away("note.h5", "cannot be read", lost=True)

        def of_version_9(data):
            data[8] = 9
            data[12:16] = zlib.crc32(bytes(data[:12])).to_bytes(4, "little")

        self.damage("killed.journal", of_version_9)
        refused = nkigrid("seal", self.run_folder)
        self.check_refused(refused, 3, "version 9", "newer")
        self.assertIn("killed.journal", self.log_files())

    def test_a_segment_of_another_version_is_refused_and_not_touched(self):
        self.assertEqual(nkigrid("seal", self.run_folder).returncode, 0)
        with h5py.File(self.run_folder / "log/made.h5", "r+") as segment:
            segment.attrs["version"] = np.int32(1)
        before = (self.run_folder / "log/made.h5").read_bytes()
        self.check_refused(nkigrid("seal", self.run_folder), 3, "made.h5", "version 1", "use the nkigrid that wrote it")
        self.assertEqual((self.run_folder / "log/made.h5").read_bytes(), before)

    def test_export_equals_the_segments_columns_by_h5py(self):
        self.assertEqual(nkigrid("seal", self.run_folder).returncode, 0)
        import h5py

        rows = {(row["episode"], row["attempt"]): row for row in self.rows() if row["attempt"]}
        turns = {(row["episode"], row["attempt"], row["turn"]): row for row in self.rows("--turns", "--texts")}
        seen = 0
        for name in ("made.h5", "killed.h5"):
            with h5py.File(self.run_folder / "log" / name) as file:
                text = file["text"][:].tobytes()
                columns = {n: c[:] for n, c in file["episodes"].items()}
                for i in range(len(columns["episode"])):
                    row = rows.get((columns["episode"][i].decode(), int(columns["attempt"][i])))
                    if row is None:
                        continue  # did not count
                    seen += 1
                    self.check_row(row, columns, i, set(row) & set(columns))
                columns = {n: c[:] for n, c in file["turns"].items()}
                for i in range(len(columns["episode"])):
                    row = turns[columns["episode"][i].decode(), int(columns["attempt"][i]), int(columns["turn"][i])]
                    if columns["answered"][i]:
                        self.check_row(row, columns, i, set(row) & set(columns))
                    for what in ("request", "reply"):
                        at, size = int(columns[what + "_offset"][i]), int(columns[what + "_length"][i])
                        self.assertEqual(row[what], text[at : at + size].decode())
                    seen += 1
        self.assertEqual(seen, len(rows) + len(turns))

    def check_row(self, row, columns, i, names):
        self.assertGreater(len(names), 15)
        for name in names:
            value, cell = row[name], columns[name][i]
            if value is None:
                self.assertTrue(cell != cell or cell == -1, name)  # NaN, or not done
            elif isinstance(value, str):
                self.assertEqual(cell.decode(), value, name)
            else:
                self.assertEqual(float(cell), value, name)

    def test_csv_keeps_texts_that_hold_quotes_and_line_ends(self):
        csv.field_size_limit(10**7)
        for options in ((), ("--turns", "--texts")):
            printed = nkigrid("export", self.run_folder, "--format", "csv", *options)
            self.assertEqual(printed.returncode, 0, printed.stderr)
            self.assertEqual(
                printed.stdout,
                nkigrid("export", self.run_folder, "--format", "csv", *options).stdout,
                "the same bytes each time",
            )
            table = list(csv.DictReader(io.StringIO(printed.stdout, newline="")))
            rows = self.rows(*options)
            self.assertEqual(len(table), len(rows))
            for cells, row in zip(table, rows):
                for name, value in row.items():
                    if isinstance(value, str):
                        self.assertEqual(cells[name], value)
        self.assertIn('a, "b"\nc', {cells["reply"] for cells in table})

    def test_what_is_not_there_is_refused(self):
        self.check_refused(nkigrid("export", self.run_folder, "--format", "sft"), 2, "'sft'", "sft-openai, sft-trl")
        self.check_refused(nkigrid("export", self.run_folder, "--format", "json"), 2, "did you mean 'jsonl'")
        self.check_refused(nkigrid("export", self.run_folder, "--texts"), 2, "--turns")
        for verb in (["seal"], ["log", "check"], ["export"]):
            self.check_refused(nkigrid(*verb, self.folder), 2, "run")


if __name__ == "__main__":
    unittest.main()
