"""A run whose writer dies while it seals, whose file system has no locks, whose folder two programs write: through the
real binary, with calls that fail or kill by a preloaded library (shim.c)."""
import os
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(os.environ["NKIGRID_SOURCE_DIR"]) / "tests/cli"))
import harness  # noqa: E402
from harness import Case, environment, nkigrid  # noqa: E402
from journal_format import turns_of_log  # noqa: E402

SHIM, WRITER = os.environ["NKIGRID_LOG_SHIM"], os.environ["NKIGRID_WRITE_TURNS"]
EPISODES = 4


def take_log_key(run):
    """The run as one that was frozen without a key."""
    (run / "log_key").unlink()
    grid = run / "grid.yaml"
    grid.write_text("".join(line for line in grid.open() if not line.startswith("  log_key:")))


def shimmed(**more):
    return environment(LD_PRELOAD=SHIM, **more)


class LogFaults(Case):
    @classmethod
    def setUpClass(cls):
        import tempfile

        folder = tempfile.TemporaryDirectory(prefix="nkigrid-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.grid = pathlib.Path(folder.name) / "tiny.yaml"
        text = (
            harness.SMALL.read_text()
            .replace('["L1/00[1-4]_*", "L2/00[1-2]_*"]', '["L1/001_add"]')
            .replace("replicates: 2", "replicates: 1")
        )
        cls.grid.write_text(text)
        done = nkigrid("run", cls.grid, "-o", folder.name + "/run", "--quiet")
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.reference = harness.tables_json(folder.name + "/run")

    def check_whole(self, run):
        self.assertEqual(harness.tables_json(run), self.reference)
        self.assertEqual(sorted(harness.scored_rows(run).values()), [1] * EPISODES)
        self.assertEqual([n for n in turns_of_log(str(run / "log")).values() if n > 4], [])
        checked = nkigrid("log", "check", run)
        self.assertEqual(checked.returncode, 0, checked.stderr)

    def test_a_run_killed_while_it_seals_loses_nothing(self):
        for number, place in enumerate(("fsync:.h5:1", "link:.h5:1", "unlink:.h5:1", "unlink:.journal:2")):
            with self.subTest(place):
                run = self.folder / f"run{number}"
                died = nkigrid("run", self.grid, "-o", run, "--quiet", env=shimmed(NKIGRID_TEST_KILL_AT=place))
                self.assertEqual(died.returncode, -signal.SIGKILL, died.stderr)
                self.assertEqual(harness.status(run)["scored"], EPISODES, "every episode had ended before the seal")
                resumed = nkigrid("resume", run, "--local", "--quiet")
                self.assertEqual(resumed.returncode, 0, resumed.stderr)
                self.assertEqual(nkigrid("seal", run).returncode, 0)
                self.check_whole(run)

    def test_without_file_locks_a_run_warns_and_is_whole(self):
        run = self.folder / "run"
        done = nkigrid(
            "run", self.grid, "-o", run, "--quiet", env=shimmed(NKIGRID_TEST_NO_FLOCK="1", HDF5_USE_FILE_LOCKING="TRUE")
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("not locked", done.stderr)
        self.check_whole(run)

    def test_without_file_locks_a_journal_that_may_be_alive_is_sealed_and_stays(self):
        log = self.folder / "run" / "log"
        self.assertEqual(nkigrid("submit", self.grid, "-o", self.folder / "run", "--dry-run").returncode, 0)
        take_log_key(self.folder / "run")  # the writer of this test has none
        writer = subprocess.Popen(
            [WRITER, log, "alive", "2", "1000"], stdout=subprocess.PIPE, env=shimmed(NKIGRID_TEST_NO_FLOCK="1")
        )
        self.addCleanup(writer.stdout.close)
        for _ in range(40):
            writer.stdout.readline()
        for _ in range(2):
            sealed = nkigrid("seal", self.folder / "run", env=shimmed(NKIGRID_TEST_NO_FLOCK="1"))
            self.assertEqual(sealed.returncode, 0, sealed.stderr)
        writer.kill()
        acknowledged = [line.decode().split() for line in writer.stdout]
        writer.wait()
        self.assertTrue((log / "alive.journal").exists() and (log / "alive.h5").exists())
        found = turns_of_log(str(log))
        self.assertEqual(set(found.values()), {1})
        for words in acknowledged:
            if words[0] in "RT":
                self.assertIn((words[0], *map(int, words[1:])), found)

    def test_two_writers_never_share_a_journal_and_a_living_ones_is_not_sealed(self):
        log = self.folder / "log"
        log.mkdir()
        first = subprocess.Popen([WRITER, log, "one", "2", "1000"], stdout=subprocess.PIPE)
        self.addCleanup(first.stdout.close)
        for _ in range(6):
            first.stdout.readline()
        other = subprocess.run([WRITER, log, "two", "2", "1000"], capture_output=True, text=True, check=False)
        self.assertEqual(other.returncode, 1)
        self.assertIn("its writer is alive", other.stderr)
        first.kill()
        first.wait()
        same = subprocess.run([WRITER, log, "one", "2", "1000", "finish"], capture_output=True, text=True, check=False)
        self.assertEqual(same.returncode, 1, "the name has a journal and a segment")
        self.assertIn("File exists", same.stderr)


if __name__ == "__main__":
    unittest.main()
