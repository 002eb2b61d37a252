"""One seed, one table: no MPI, mpirun -n 1, mpirun -n 4, another lane count, against a server over a socket."""
import json
import re
import subprocess
import unittest

import harness
from harness import Case, environment, nkigrid


class SameTable(Case):
    @classmethod
    def setUpClass(cls):
        import tempfile

        cls.reference_run = tempfile.mkdtemp(prefix="nkigrid-test-") + "/run"
        done = nkigrid("run", harness.SMALL, "-o", cls.reference_run, "--quiet")
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.reference = harness.tables_json(cls.reference_run)

    @classmethod
    def tearDownClass(cls):
        import pathlib
        import shutil

        shutil.rmtree(pathlib.Path(cls.reference_run).parent, ignore_errors=True)

    def check_same(self, done, run):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(harness.tables_json(run), self.reference)

    def test_reference_is_whole_and_scored(self):
        table = json.loads(self.reference)
        self.assertEqual(table["outstanding"], 0)
        self.assertEqual([cell["episodes"] for cell in table["cells"]], [12] * 4)
        self.assertTrue(any(0 < cell["passed"] < 12 for cell in table["cells"]))

    def test_the_log_names_the_build_that_wrote_it(self):
        import glob

        import h5py

        notes = subprocess.run(["readelf", "-n", harness.NKIGRID], capture_output=True, text=True, check=True).stdout
        version = nkigrid("--version").stdout.split()[1]
        name = f"{version}{'.' if '+' in version else '+'}{re.search('Build ID: ([0-9a-f]{8})', notes)[1]}"
        for path in glob.glob(f"{self.reference_run}/log/*.h5"):
            with h5py.File(path, "r") as segment:
                written = segment.attrs["nkigrid_version"]
                self.assertEqual(written.decode() if isinstance(written, bytes) else written, name)

    def test_one_lane(self):
        run = self.folder / "run"
        self.check_same(nkigrid("run", harness.SMALL, "-o", run, "--lanes", "1", "--quiet"), run)

    def test_mpirun_one_rank(self):
        run = self.folder / "run"
        done = nkigrid(
            "run",
            harness.SMALL,
            "-o",
            run,
            "--quiet",
            prefix=harness.mpirun(1),
            env=environment(**harness.MPI_ENVIRONMENT),
        )
        self.check_same(done, run)

    def test_mpirun_four_ranks(self):
        run = self.folder / "run"
        done = nkigrid(
            "run",
            harness.SMALL,
            "-o",
            run,
            "--quiet",
            prefix=harness.mpirun(4),
            env=environment(**harness.MPI_ENVIRONMENT),
        )
        self.check_same(done, run)
        self.assertEqual(sorted(harness.scored_rows(run).values()), [1] * 48)

    def test_shard_by_shard(self):
        run = self.folder / "run"
        # A dry run freezes and submits nothing; then each shard is a process of its own, as an array element is.
        frozen = nkigrid("submit", harness.SMALL, "-o", run, "--dry-run")
        self.assertEqual(frozen.returncode, 0, frozen.stderr)
        for shard in range(3):
            done = nkigrid("run", run, "--shard", shard, "--quiet")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(harness.tables_json(run), self.reference)

    def test_over_a_socket(self):
        server = subprocess.Popen(
            [harness.NKIGRID, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True, env=environment()
        )
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        endpoint = re.search(r"http://\S+/v1", server.stdout.readline()).group(0)
        text = harness.SMALL.read_text()
        for name in ("novice", "expert"):
            text = text.replace(
                f"{{api: synthetic, profile: {name}}}",
                f'{{api: openai, endpoint: "{endpoint}", model: {name}, concurrency: 3}}',
            )
        run = self.folder / "run"
        done = nkigrid("run", self.write("grid.yaml", text), "-o", run, "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        over_the_wire, in_process = json.loads(harness.tables_json(run)), json.loads(self.reference)
        self.assertEqual(over_the_wire["cells"], in_process["cells"])
        self.assertEqual(over_the_wire["warnings"], in_process["warnings"])
        self.assertTrue(any("synthetic" in warning for warning in in_process["warnings"]))

    def test_running_again_changes_nothing(self):
        done = nkigrid("run", harness.SMALL, "-o", self.reference_run, "--quiet")
        self.check_same(done, self.reference_run)
        self.assertEqual(sorted(harness.scored_rows(self.reference_run).values()), [1] * 48)


if __name__ == "__main__":
    unittest.main()
