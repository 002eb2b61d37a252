"""The demo grid on a real four-node Slurm cluster: arrays of MPI elements, kill -9, resume, cancel; the same table as
on one machine."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
import harness
from cluster import Cluster
from harness import SMALL, SOURCE, Case
from lab import ranks_of

DEMO = SOURCE / "configs/demo.yaml"


class Lab(Case):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster())
        folder = cls.enterClassContext(__import__("tempfile").TemporaryDirectory(prefix="nkigrid-test-"))
        cls.reference, cls.local = {}, {}
        for grid in (SMALL, DEMO):
            run = f"{folder}/{grid.stem}"
            done = harness.nkigrid("run", grid, "-o", run, "--quiet")
            if done.returncode != 0:
                raise AssertionError(done.stderr)
            cls.reference[grid], cls.local[grid] = harness.tables_json(run), run

    def nkigrid(self, *args, **more):
        return harness.nkigrid(*args, env=self.cluster.environment(**more))

    def submit(self, grid):
        run = self.folder / "run"
        done = self.nkigrid("submit", grid, "-o", run)
        self.assertEqual(done.returncode, 0, done.stderr)
        arrays = [int(n) for n in re.findall(r"submitted array (\d+)", done.stdout)]
        aggregation = int(re.search(r"submitted aggregation (\d+)", done.stdout).group(1))
        return run, arrays, aggregation

    def wait_for_queue(self, seconds=280):
        harness.wait_until(lambda: not self.cluster.squeue().strip(), seconds, "an empty queue")

    def logs(self, run):
        return "\n".join(f"== {p.name}\n{p.read_text()[-2000:]}" for p in pathlib.Path(run, "log").glob("*.out"))

    def check_table(self, run, grid):
        self.assertEqual(harness.tables_json(run), self.reference[grid], self.logs(run))
        written = json.loads(pathlib.Path(run, "tables", "tables.json").read_text())
        self.assertEqual(written["outstanding"], 0)
        rows = harness.scored_rows(run)
        self.assertEqual(set(rows.values()), {1})
        self.assertEqual(len(rows), harness.status(run)["episodes"])

    def test_submitted_demo_finishes_with_the_local_table(self):
        run, arrays, _ = self.submit(DEMO)
        self.assertEqual(len(arrays), 1)
        self.wait_for_queue()
        self.check_table(run, DEMO)
        import h5py

        nodes, ranks = set(), set()
        for path in pathlib.Path(run, "log").glob("*.h5"):
            with h5py.File(path) as segment:
                nodes |= {n.rstrip(b"\0") for n in segment["episodes/node"][:]}
                ranks |= set(segment["episodes/rank"][:])
        self.assertTrue(nodes <= {b"trn1", b"trn2", b"trn3", b"trn4"} and len(nodes) > 1, nodes)
        self.assertEqual(ranks, {0, 1})
        again = self.nkigrid("submit", DEMO, "-o", run)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("nothing to submit", again.stdout)

    def test_demo_shows_what_the_field_knows(self):
        cells = {cell["cell"]: cell for cell in json.loads(self.reference[DEMO])["cells"]}
        for model in ("novice", "expert"):
            single, agent = (cells[f"{model}.{mode}.rank-aware"]["levels"] for mode in ("ss", "agent"))
            for level in ("L2", "L3"):
                self.assertGreater(agent[level]["passed"], single[level]["passed"], f"{model} {level}")

    def test_kill_9_of_one_rank_then_resume(self):
        run, _, _ = self.submit(DEMO)
        harness.wait_until(lambda: harness.status(run).get("scored", 0) > 60, what="60 scored episodes")
        victims = ranks_of(run)
        self.assertTrue(victims)
        os.kill(max(victims), signal.SIGKILL)
        self.wait_for_queue()
        self.assertGreater(harness.status(run)["outstanding"], 0)
        done = self.nkigrid("resume", run)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.wait_for_queue()
        self.check_table(run, DEMO)

    def test_cancel_then_resume_here(self):
        run, _, _ = self.submit(SMALL)
        harness.wait_until(lambda: harness.status(run).get("scored", 0) > 3, what="3 scored episodes")
        done = self.nkigrid("cancel", run)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.wait_for_queue()
        harness.wait_until(lambda: not ranks_of(run), what="the end of every rank")
        self.assertIn("no living job", self.nkigrid("cancel", run).stdout)
        done = self.nkigrid("resume", run, "--local", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_table(run, SMALL)

    def test_a_second_submit_sees_the_first(self):
        run, arrays, _ = self.submit(SMALL)
        second = self.nkigrid("submit", SMALL, "-o", run)
        self.assertEqual(second.returncode, 0, second.stderr)
        if harness.status(run)["outstanding"] > 0:
            self.assertNotIn("submitted array", second.stdout)
        elements = json.loads(self.nkigrid("status", run, "--json").stdout)["elements"]
        self.assertEqual([element["shard"] for element in elements], [0, 1, 2])
        self.assertEqual({element["job"] for element in elements}, set(arrays))
        self.wait_for_queue()
        self.check_table(run, SMALL)

    def test_a_lost_note_is_found_by_its_comment(self):
        run, arrays, _ = self.submit(SMALL)
        (run / "jobs.json").unlink()
        again = self.nkigrid("resume", run)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertNotIn("submitted array", again.stdout)
        self.wait_for_queue()
        self.check_table(run, SMALL)

    def test_dry_run_prints_a_script_that_sbatch_takes(self):
        run = self.folder / "run"
        script = self.nkigrid("submit", SMALL, "-o", run, "--dry-run")
        self.assertEqual(script.returncode, 0, script.stderr)
        path = self.write("job.sh", script.stdout)
        taken = self.cluster.command("sbatch", "--parsable", str(path))
        self.assertEqual(taken.returncode, 0, taken.stderr)
        self.wait_for_queue()
        self.assertEqual(harness.tables_json(run), self.reference[SMALL], self.logs(run))

    def test_a_key_from_the_environment_is_refused_and_none_travels(self):
        text = SMALL.read_text().replace(
            "{api: synthetic, profile: novice}",
            '{api: openai, endpoint: "http://127.0.0.1:9/v1", model: m, key: {env: SECRET_KEY}}',
        )
        grid = self.write("grid.yaml", text)
        self.check_refused(
            self.nkigrid("submit", grid, "-o", self.folder / "r", SECRET_KEY="s3cr3t"), 2, "SECRET_KEY", "file"
        )
        self.assertFalse((self.folder / "r").exists())
        run, arrays, _ = self.submit(SMALL)
        shown = self.cluster.command("scontrol", "show", "job", "-d", str(arrays[0])).stdout
        self.assertNotIn("s3cr3t", shown)
        self.wait_for_queue()

    def reverify(self, name, *more):
        """The small run's kernels at a tolerance that fails some of them, judged in the run `name`."""
        text = SMALL.read_text().replace("name: small", "name: tight") + "check: {atol: 1.0e-9, rtol: 1.0e-9}\n"
        words = ("--device", self.write("tight.yaml", text), "-o", self.folder / name, "-q", *more)
        done = self.nkigrid("reverify", self.local[SMALL], *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.folder / name

    def changes(self, run):
        words = ("--table", "changes", "--table", "change-tests", "--by", "level", "--json")
        told = json.loads(self.nkigrid("tables", self.local[SMALL], run, *words).stdout)
        return {name: told[name] for name in ("changes", "change_tests")}

    def test_a_reverify_submitted_as_an_array_changes_what_a_local_one_does(self):
        run = self.reverify("there", "--freeze-only")
        done = self.nkigrid("resume", run)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"submitted array \d+")
        here = self.reverify("here")
        self.wait_for_queue()
        changes = self.changes(run)
        self.assertTrue([row for row in changes["changes"] if row["before"] != row["after"]], "1e-9 fails no kernel")
        self.assertEqual(changes, self.changes(here), self.logs(run))
        self.assertEqual(json.loads((run / "tables/tables.json").read_text())["outstanding"], 0)
        self.assertEqual(harness.nkigrid("log", "check", run).returncode, 0)


class NoCluster(Case):
    """Without Slurm, or with a broken one: a clear message within five seconds, and everything else works."""

    def refused_quickly(self, *words, **environment):
        started = time.monotonic()
        done = harness.nkigrid("submit", SMALL, "-o", self.folder / "run", env=harness.environment(**environment))
        self.assertLess(time.monotonic() - started, 10)  # 5 s of ours on a busy machine
        self.check_refused(done, 4, *words)
        self.assertFalse((self.folder / "run").exists())

    def test_configuration_that_does_not_exist(self):
        self.refused_quickly("no-such.conf", "SLURM_CONF", SLURM_CONF=str(self.folder / "no-such.conf"))

    def test_garbage_configuration(self):
        self.refused_quickly("Slurm", SLURM_CONF=str(self.write("slurm.conf", "this is no configuration\n")))

    def test_dead_controller(self):
        text = (
            "ClusterName=dead\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort=9\nAuthType=auth/munge\n"
            "NodeName=n1\nPartitionName=p Nodes=n1\n"
        )
        self.refused_quickly("Slurm", SLURM_CONF=str(self.write("slurm.conf", text)))


if __name__ == "__main__":
    unittest.main()
