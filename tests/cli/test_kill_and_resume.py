"""kill -9, SIGTERM and resume: the same table as an undisturbed run, and no episode run twice to an end."""
import json
import os
import pathlib
import shutil
import signal
import unittest

import h5py
import harness
from harness import Case, environment, nkigrid


def children_of(pid):
    """Direct children, by /proc."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as stat:
                    fields = stat.read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == pid:
                found.append(int(entry))
    return found


class KillAndResume(Case):
    @classmethod
    def setUpClass(cls):
        import tempfile

        folder = tempfile.TemporaryDirectory(prefix="nkigrid-test-")
        cls.addClassCleanup(folder.cleanup)
        run = folder.name + "/run"
        done = nkigrid("run", harness.SMALL, "-o", run, "--quiet")
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.reference = harness.tables_json(run)
        cls.whole_run = pathlib.Path(run)

    def start_until(self, scored, prefix=(), env=None):
        run = self.folder / "run"
        process = harness.start("run", harness.SMALL, "-o", run, "--quiet", prefix=prefix, env=env)
        harness.wait_until(lambda: harness.status(run).get("scored", 0) >= scored, what=f"{scored} scored episodes")
        return run, process

    def check_resumed(self, run):
        done = nkigrid("resume", run, "--local", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(harness.tables_json(run), self.reference)
        self.assertEqual(sorted(harness.scored_rows(run).values()), [1] * 48)
        self.check_paid_once(run)

    def check_paid_once(self, run):
        """Turns, attempts and the table tell the same tokens; those that count are those of the undisturbed run."""

        def rows(folder, *what):
            done = nkigrid("export", folder, *what)
            self.assertEqual(done.returncode, 0, done.stderr)
            return [json.loads(line) for line in done.stdout.splitlines()]

        def tokens(some):
            return sum(row["tokens_in"] + row["tokens_out"] for row in some)

        turns = rows(run, "--turns")
        cost = json.loads(nkigrid("tables", run, "--table", "cost", "--json").stdout)["cost"]
        lost = sum(row["uncounted_tokens"] for row in cost)
        counted = [row for row in turns if row["counted"]]
        self.assertEqual(tokens(counted), tokens(rows(self.whole_run, "--turns")))
        self.assertEqual(tokens(counted), tokens(cost))
        self.assertEqual(tokens(turns), tokens(counted) + lost)
        self.assertEqual(tokens(rows(run, "--attempts")), tokens(turns))

    def test_a_session_with_nothing_to_do_leaves_no_file(self):
        run = self.folder / "run"
        shutil.copytree(self.whole_run, run)
        before = sorted(path.name for path in (run / "log").iterdir())
        for arguments in (("resume", run, "--local"), ("run", harness.SMALL, "-o", run)):
            done = nkigrid(*arguments, "--quiet")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(sorted(path.name for path in (run / "log").iterdir()), before)

    def test_kill_9_of_the_only_process(self):
        run, process = self.start_until(scored=10)
        process.kill()
        process.wait()
        process.stderr.close()
        before = harness.status(run)
        self.assertGreaterEqual(before["scored"], 10)
        self.assertLess(before["scored"], 48)
        partial = nkigrid("tables", run, "--format", "json")
        self.assertEqual(partial.returncode, 1)
        self.check_resumed(run)

    def test_kill_9_of_one_rank_under_mpirun(self):
        run, launcher = self.start_until(
            scored=10, prefix=harness.mpirun(3), env=environment(**harness.MPI_ENVIRONMENT)
        )
        os.kill(max(children_of(launcher.pid)), signal.SIGKILL)
        self.assertNotEqual(launcher.wait(), 0)
        launcher.stderr.close()
        self.check_resumed(run)

    def test_sigterm_drains_and_exits_1(self):
        run, process = self.start_until(scored=5)
        process.terminate()
        self.assertEqual(process.wait(), 1)
        last_line = process.stderr.read().strip().splitlines()[-1]
        process.stderr.close()
        self.assertIn("SIGTERM", last_line)
        self.assertIn("SIGTERM", harness.status(run)["stopped_by"])
        self.check_resumed(run)

    def test_killed_again_and_again(self):
        run, process = self.start_until(scored=4)
        for scored in (8, 16, 30):
            process.kill()
            process.wait()
            process.stderr.close()
            process = harness.start("resume", run, "--local", "--quiet")
            harness.wait_until(lambda: harness.status(run)["scored"] >= scored, what=f"{scored} scored episodes")
        process.kill()
        process.wait()
        process.stderr.close()
        self.check_resumed(run)

    def test_verdicts_on_a_damaged_disk_are_made_again_and_no_reply_is_paid_twice(self):
        def turns_in(run):
            total = 0
            for segment in (run / "log").glob("*.h5"):
                with h5py.File(segment) as file:
                    total += file["turns/turn"].shape[0]
            return total

        for column in ("episodes/passed", "episodes/synthetic", "episodes/turns"):
            with self.subTest(column=column):
                run = self.folder / column.replace("/", "-")
                shutil.copytree(self.whole_run, run)
                turns = turns_in(run)
                (segment,) = (run / "log").glob("*.h5")
                with h5py.File(segment) as file:
                    chunk = file[column].id.get_chunk_info(0)
                damaged = bytearray(segment.read_bytes())
                damaged[chunk.byte_offset + chunk.size // 2] ^= 0x55
                segment.write_bytes(damaged)
                self.assertEqual(nkigrid("tables", run, "--format", "json").returncode, 3)
                self.assertEqual(nkigrid("seal", run).returncode, 3)
                self.assertEqual(
                    nkigrid("tables", run, "--format", "json").returncode, 1, "they are outstanding, not failed"
                )
                self.check_resumed(run)
                self.assertEqual(turns_in(run), turns)


if __name__ == "__main__":
    unittest.main()
