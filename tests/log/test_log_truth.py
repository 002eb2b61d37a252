"""What the verbs do about a log that is not what a writer leaves: nothing is counted wrongly without a sign. Files are
changed with stock h5py, and sums are made with numpy."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(os.environ["NKIGRID_SOURCE_DIR"]) / "tests/cli"))
from harness import SMALL, Case, nkigrid  # noqa: E402

MAKE_RUN = os.environ["NKIGRID_MAKE_RUN"]
EPISODES = 48  # of the small grid: 8 of each six kinds


class LogTruth(Case):
    def setUp(self):
        super().setUp()
        self.run_folder = self.make_run("run")
        self.log = self.run_folder / "log"

    def make_run(self, name, grid=SMALL):
        folder = self.folder / name
        made = subprocess.run([MAKE_RUN, str(grid), str(folder)], capture_output=True, text=True, check=False)
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
    def test_a_cut_segment_is_not_made_whole_through_a_link(self):
        """What `seal` makes of a segment that is shorter than it says stands beside it, under a name that is known."""
        self.seal()
        victim = self.folder / "victim"
        victim.write_text("mine")
        segment = self.log / "made.h5"
        segment.write_bytes(segment.read_bytes()[:-2000])
        beside = segment.with_name(segment.name + ".whole-length")
        beside.symlink_to(victim)
        done = nkigrid("seal", self.run_folder)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr + str(sorted(self.log.iterdir())))
        self.assertEqual(victim.read_text(), "mine")
        self.assertFalse(beside.is_symlink(), "it was there, so this run came by it")

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
        self.check_refused(sealed, 3, "neither its head", "could not be saved")  # what it held is lost, or never was
        self.assertEqual(nkigrid("seal", self.run_folder).returncode, 0, "told once")
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


class CountedOnce(LogTruth):
    """Copies and files of another run: what the tables, the exports and h5py count stays what it was."""

    def totals(self):
        """Rows, tokens and USD of `export --turns`, and the cost table, with the warnings that are told."""
        export = nkigrid("export", self.run_folder, "--turns")
        self.assertEqual(export.returncode, 0, export.stderr)
        rows = [json.loads(line) for line in export.stdout.splitlines()]
        tables = nkigrid("tables", self.run_folder, "--table", "all", "--format", "json")
        self.assertEqual(tables.returncode, 1, tables.stderr)  # some are outstanding
        printed = json.loads(tables.stdout)
        sums = tuple(float(np.sum([row[name] for row in rows])) for name in ("tokens_in", "tokens_out", "cost_usd"))
        warnings = printed.pop("warnings")
        return (len(rows), sums, printed), warnings, export.stderr + tables.stderr

    def totals_by_h5py(self, file):
        with h5py.File(file) as segment:
            turns = segment["turns"]
            return (
                len(turns["turn"]),
                tuple(float(np.sum(turns[name][:])) for name in ("tokens_in", "tokens_out", "cost_usd")),
            )

    def check_unchanged(self, before, name, warning, told):
        totals, warnings, stderr = self.totals()
        self.assertEqual(totals, before)
        self.assertEqual(
            [w for w in warnings if warning in w], [f"1 file in the log's folder {warning}; `log check` names them"]
        )
        self.assertIn(name, stderr)
        self.assertIn(told, stderr)
        status = json.loads(nkigrid("status", self.run_folder, "--json").stdout)
        (warning,) = [words for words in status["log_warnings"] if "unverified" not in words]
        self.assertIn(name, warning)

    def check_set_aside(self, before, name):
        sealed = nkigrid("seal", self.run_folder)
        self.assertEqual(sealed.returncode, 0, sealed.stderr)
        self.assertIn(name, sealed.stderr)
        self.assertTrue((self.log / "damaged" / name).exists())
        self.assertEqual(nkigrid("log", "check", self.run_folder).returncode, 0)
        totals, warnings, _ = self.totals()
        self.assertEqual(totals, before)
        self.assertFalse([w for w in warnings if "folder" in w])

    def test_a_copy_is_counted_once_and_told(self):
        journal = (self.log / "made.journal").read_bytes()
        (self.log / "killed.journal").unlink()
        self.seal()
        before, warnings, stderr = self.totals()
        self.assertEqual(before[:2], self.totals_by_h5py(self.log / "made.h5"))
        self.assertNotIn("copy", " ".join(warnings) + stderr)
        segment = (self.log / "made.h5").read_bytes()
        for name, data in (
            ("backup.h5", segment),
            ("made.part2.h5", segment),
            ("made.part3.h5", segment),
            ("a copy of made.h5", segment),
            ("another.journal", journal),
            ("another.journal", journal[: len(journal) // 2]),
        ):
            (self.log / name).write_bytes(data)
            self.check_unchanged(before, name, "is a copy of others and counted once", "is a copy")
            check = nkigrid("log", "check", self.run_folder, "--json")
            self.assertEqual(check.returncode, 0, check.stderr)
            self.assertIn("is a copy", check.stderr)
            left_out = {f["file"]: f["left_out"] for f in json.loads(check.stdout)["files"]}
            self.assertEqual([file for file, why in left_out.items() if why], [name])
            self.check_set_aside(before, name)
            shutil.rmtree(self.log / "damaged")

    def test_a_changed_copy_is_corrupt(self):
        self.seal()
        before = self.totals()[0]
        shutil.copy(self.log / "made.h5", self.log / "zz.h5")
        with h5py.File(self.log / "zz.h5", "r+") as segment:
            segment["turns/cost_usd"][3] = 99.0
        self.refused_by_all("zz.h5", "tell 1 records differently")
        # Neither is chosen: the copy might as well be the true one.
        self.check_refused(nkigrid("seal", self.run_folder), 3, "tell 1 records differently", "do not believe")
        check = nkigrid("log", "check", self.run_folder)
        self.check_refused(check, 3, "what to do stands beside")
        self.assertNotIn("nkigrid seal", check.stderr)
        (self.log / "zz.h5").unlink()
        self.assertEqual(self.totals()[0], before)

    def test_a_range_that_is_not_the_records_is_corrupt(self):
        """What a segment says to hold is skipped in its journal: too little counts twice, too much hides."""
        self.log.joinpath("made.journal").unlink()
        journal = (self.log / "killed.journal").read_bytes()
        self.seal()
        self.assertTrue((self.log / "killed.journal").exists(), "its attempts have not ended")
        before = self.totals()[0]
        segment = (self.log / "killed.h5").read_bytes()
        for changes in ({"seq_first": 3}, {"seq_last": 9}, {"seq_first": 0, "seq_last": 0}):
            with self.subTest(changes):
                with h5py.File(self.log / "killed.h5", "r+") as file:
                    for name, value in changes.items():
                        file.attrs.modify(name, np.uint64(value))
                self.refused_by_all("killed.h5", "holds record", "and says to hold")
                self.assertEqual(nkigrid("seal", self.run_folder).returncode, 0)
                self.assertEqual(self.totals()[0], before)
                self.assertEqual((self.log / "killed.journal").read_bytes(), journal)
                (self.log / "killed.h5").write_bytes(segment)
        with h5py.File(self.log / "killed.h5", "r+") as file:
            for group in ("turns", "attempts"):
                for column in list(file[group]):
                    rows = file[group][column][:-1]
                    del file[group][column]
                    file[group].create_dataset(
                        column, data=rows, chunks=True, compression="gzip", shuffle=True, maxshape=(None,)
                    )
        self.check_refused(nkigrid("log", "check", self.run_folder), 3, "1 of 2")
        self.assertEqual(nkigrid("seal", self.run_folder).returncode, 0)
        self.assertEqual(self.totals()[0], before)

    def test_a_renamed_segment_is_corrupt_until_it_has_its_name(self):
        self.seal()
        before = self.totals()[0]
        (self.log / "made.h5").rename(self.log / "other.h5")
        self.refused_by_all("other.h5", "it is of journal 'made'", "names it 'made.h5'")
        self.seal()
        self.assertTrue((self.log / "made.h5").exists() and not (self.log / "other.h5").exists())
        self.assertEqual(self.totals()[0], before)

    def test_a_link_in_the_place_of_a_segment_is_told_and_nothing_is_run_again(self):
        self.seal()
        segment, away = self.log / "made.h5", self.folder / "away.h5"
        segment.rename(away)
        for target in ("/nowhere/made.h5", away):
            segment.symlink_to(target)
            for verb in (["tables"], ["export"], ["status"], ["log", "check"], ["seal"]):
                self.check_refused(nkigrid(*verb, self.run_folder), 3, "made.h5", "is a symbolic link")
            self.check_refused(nkigrid("resume", self.run_folder, "--local"), 3, "made.h5")
            segment.unlink()

    def test_no_name_in_a_file_leads_out_of_the_log(self):
        self.seal()
        segment = self.log / "made.h5"
        kept = segment.read_bytes()
        around = {path for path in self.folder.rglob("*") if self.log not in path.parents}
        for name in ("../../EVIL", str(self.folder / "EVIL"), "locks/x", ".x", "a\nb", "x" * 300):
            segment.write_bytes(kept)
            with h5py.File(segment, "r+") as file:
                for place in (file, file["attempts"]):
                    place.attrs.create("journal", name.encode(), dtype=f"S{len(name)}")
            told = nkigrid("tables", self.run_folder)
            self.assertEqual(told.returncode, 1, told.stderr)
            self.assertIn("which no writer gives", told.stderr)
            self.assertEqual(nkigrid("log", "check", self.run_folder).returncode, 3, name)
            self.seal()
            self.assertFalse(segment.exists())
            self.assertEqual({path for path in self.folder.rglob("*") if self.log not in path.parents}, around)
            self.assertTrue((self.log / "damaged" / segment.name).exists())
            shutil.rmtree(self.log / "damaged")

    def test_a_part_far_behind_makes_no_files_up(self):
        self.seal()
        kept = (self.log / "made.h5").read_bytes()
        for number in (1500, 3_000_000, 2**32 - 1):
            (self.log / "made.h5").write_bytes(kept)
            with h5py.File(self.log / "made.h5", "r+") as file:
                for place in (file, file["attempts"]):
                    place.attrs.modify("part", number)
            self.assertEqual(nkigrid("log", "check", self.run_folder).returncode, 3, number)
            self.seal()
            self.assertLess(len(list(self.log.glob("*.h5"))), 3, number)
            self.assertTrue((self.log / "damaged" / "made.h5").exists())
            shutil.rmtree(self.log / "damaged")

    def test_a_file_of_another_seed_is_never_counted(self):
        grid = self.folder / "seed8.yaml"
        grid.write_text(SMALL.read_text().replace("seed: 7", "seed: 8"))
        other = self.make_run("other", grid)
        keys = [{row["key"] for row in self.rows(run=run)} for run in (self.run_folder, other)]
        self.assertEqual(*keys, "the keys do not know the seed: they would let it in")
        foreign = other / "log/made.journal"
        before = self.totals()[0]
        for own_head in (True, False):
            data = bytearray(foreign.read_bytes())
            if not own_head:
                data[50] ^= 1
            (self.log / "foreign.journal").write_bytes(data)
            self.check_unchanged(before, "foreign.journal", "is of another run and not counted", "belongs to run")
            check = nkigrid("log", "check", self.run_folder, "--json")
            self.check_refused(check, 3, "1 of 3 log files")
            (self.log / "foreign.journal").unlink()
        self.assertEqual(nkigrid("seal", other).returncode, 0)
        shutil.copy(other / "log/made.h5", self.log / "foreign.h5")
        self.check_unchanged(before, "foreign.h5", "is of another run and not counted", "belongs to run")
        self.assertNotIn(self.run_id(other), self.run_id(self.run_folder))
        self.check_set_aside(before, "foreign.h5")

    def test_a_log_of_nothing_but_another_seed_is_an_empty_log(self):
        grid = self.folder / "seed8.yaml"
        grid.write_text(SMALL.read_text().replace("seed: 7", "seed: 8"))
        other = self.make_run("other", grid)
        for journal in self.log.glob("*.journal"):
            journal.unlink()
        shutil.copy(other / "log/made.journal", self.log)
        self.assertEqual({row["outstanding"] for row in self.rows()}, {"pending"})
        self.assertEqual(self.rows("--turns"), [])

    @staticmethod
    def run_id(folder):
        return next(line for line in (folder / "grid.yaml").read_text().splitlines() if "run_id" in line)


class Before(unittest.TestCase):
    """A run made before segments were of version 3 and journals of 1.1: its log, and what its program printed."""

    OLD = pathlib.Path(os.environ["NKIGRID_SOURCE_DIR"]) / "tests/data/log/run_0_1_0"

    def rows(self, run, *options):
        done = nkigrid("export", run, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def check_same(self, rows, file):
        expected = [json.loads(line) for line in (self.OLD / file).read_text().splitlines()]
        self.assertEqual([{name: row[name] for name in old} for row, old in zip(rows, expected)], expected)
        self.assertEqual(len(rows), len(expected))

    def test_is_read_and_sealed_beside_the_new_form(self):
        self.check_same(self.rows(self.OLD), "episodes.jsonl")
        self.check_same(self.rows(self.OLD, "--turns"), "turns.jsonl")
        self.assertEqual(nkigrid("log", "check", self.OLD).returncode, 0)
        with tempfile.TemporaryDirectory() as folder:
            run = pathlib.Path(folder) / "run"
            shutil.copytree(self.OLD, run)
            self.assertEqual(nkigrid("seal", run).returncode, 0)
            self.check_same(self.rows(run), "episodes.jsonl")
            versions = {int(h5py.File(file).attrs["version"]) for file in (run / "log").glob("*.h5")}
            self.assertEqual(versions, {2, 3})
            self.check_copies_are_told(run)

    def check_copies_are_told(self, run):
        """A journal of before does not know its name: its copy is known by what is in it."""
        journal = next((self.OLD / "log").glob("*.journal"))
        shutil.copy(journal, run / "log/zz.journal")
        done = nkigrid("export", run, "--turns")
        self.assertIn("zz.journal' is a copy", done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), len((self.OLD / "turns.jsonl").read_text().splitlines()))


if __name__ == "__main__":
    unittest.main()
