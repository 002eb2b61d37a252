"""A full disk while turns are logged: one clear error, nothing acknowledged is lost, and the run goes on when there is
space."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
import harness
from harness import SMALL, Case

LEFT = 96 * 1024  # bytes: some turns find room, all of them do not


class FullDisk(Case):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="nkigrid-test-"))
        done = harness.nkigrid("run", SMALL, "-o", f"{folder}/run", "--quiet")
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.reference = harness.timeless_tables(f"{folder}/run")

    def small_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        if (
            os.geteuid() != 0
            or subprocess.run(
                ["mount", "-t", "tmpfs", "-o", "size=16m", "none", str(disk)], capture_output=True
            ).returncode
            != 0
        ):
            self.skipTest("mounting a small disk takes root and a container that may mount")
        self.addCleanup(subprocess.run, ["umount", "-l", str(disk)])
        return disk

    def test_a_run_on_a_full_disk_ends_clearly_and_continues_when_there_is_space(self):
        disk = self.small_disk()
        run = disk / "run"
        harness.nkigrid("submit", SMALL, "-o", run, "--dry-run")
        space = os.statvfs(disk)
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(space.f_bavail * space.f_frsize - LEFT))
        done = harness.nkigrid("run", run, "--quiet")
        self.check_refused(done, 3, str(disk), "No space left")
        state = harness.status(run)
        self.assertGreater(state["outstanding"], 0)
        ballast.unlink()
        # What was scored before the disk was full is there still, and the rest follows.
        self.assertEqual(harness.nkigrid("log", "check", run).returncode, 0)
        self.assertEqual(harness.status(run)["scored"], state["scored"])
        done = harness.nkigrid("resume", run, "--local", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(harness.timeless_tables(run), self.reference)


if __name__ == "__main__":
    unittest.main()
