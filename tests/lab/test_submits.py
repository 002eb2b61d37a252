"""Submits that come twice or die half-way, a controller that is away, limits at their edges, and tables that tell what
is missing."""
import json
import os
import re
import signal
import subprocess
import time
import unittest

from lab import DisturbedCase, harness


class Submits(DisturbedCase):
    # MaxArraySize 5 allows the indices 0 to 4; the controller looks once a minute for finished jobs to forget.
    cluster_options = {"max_array": 5, "min_job_age": 5, "max_jobs": 100}
    delay = 0

    def shards(self, count):
        return f'{{shards: {count}, nodes: 1, ranks_per_node: 1, time: "00:10:00"}}'

    def arrays_in_queue(self):
        return {line.split("_")[0] for line in self.cluster.squeue().split("\n") if "_" in line.split(" ")[0]}

    def test_two_submits_at_once_give_one_array(self):
        self.model.delay = 0.3
        grid = self.write("grid.yaml", self.model.grid(self.shards(3)))
        both = [
            subprocess.Popen(
                [harness.NKIGRID, "submit", str(grid), "-o", str(self.run_folder)],
                env=self.cluster.environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        said = [process.communicate(timeout=60) for process in both]
        self.assertEqual([process.returncode for process in both], [0, 0], said)
        self.assertEqual(sum(out.count("submitted array") for out, _ in said), 1, said)
        self.assertEqual(sum("already submitted" in out for out, _ in said), 1, said)
        self.assertEqual(len(self.arrays_in_queue()), 1)
        self.model.delay = 0
        self.wait_for_queue()
        self.check_undisturbed()

    def test_a_submit_killed_before_its_note_leaves_one_array(self):
        self.model.delay = 0.3
        grid = self.write("grid.yaml", self.model.grid(self.shards(3)))
        shim = str(harness.BUILD / "tests/lab/libdie_at_note.so")
        died = self.nkigrid("submit", grid, "-o", self.run_folder, LD_PRELOAD=shim)
        self.assertEqual(died.returncode, -signal.SIGKILL, died.stderr)
        self.assertFalse((self.run_folder / "jobs.json").exists())
        (array,) = self.arrays_in_queue()
        again = self.nkigrid("submit", grid, "-o", self.run_folder)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("already submitted", again.stdout)
        self.assertEqual(self.arrays_in_queue(), {array})
        self.model.delay = 0
        self.wait_for_queue()
        self.check_undisturbed()

    def test_a_controller_that_is_away_stops_neither_elements_nor_status(self):
        self.model.delay = 0.3
        (array,) = self.submit(self.shards(3))
        self.wait_for_scored(2)
        self.cluster.stop_controller()
        started = time.monotonic()
        away = self.nkigrid("status", self.run_folder, "--json")
        self.assertLess(time.monotonic() - started, 10)  # 5 s of ours on a busy machine
        self.assertIn("warning", away.stderr)
        before = json.loads(away.stdout)
        self.assertEqual(before["elements"], [])
        self.check_refused(self.nkigrid("resume", self.run_folder), 4, "Slurm")
        self.wait_for_scored(before["scored"] + 4)
        self.cluster.start_controller()
        harness.wait_until(lambda: {e["job"] for e in self.status()["elements"]} == {array}, what="elements in status")
        self.model.delay = 0
        self.wait_for_queue()
        if harness.status(self.run_folder)["outstanding"] > 0:
            self.finish()
        self.check_undisturbed()

    def test_arrays_are_split_at_the_index_limit(self):
        for shards, sizes in ((4, ["0-3"]), (5, ["0-4"]), (6, ["0-4", "0"])):
            with self.subTest(shards=shards):
                run = self.folder / f"run{shards}"
                done = self.nkigrid("submit", self.write("grid.yaml", self.model.grid(self.shards(shards))), "-o", run)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(re.findall(r"elements ([0-9,-]+), shard", done.stdout), sizes)
                self.wait_for_queue()
                self.check_undisturbed(run)

    def test_a_run_without_room_is_refused_with_the_numbers(self):
        blocker = self.cluster.command(
            "sbatch", "--parsable", "--array=0-2", "--hold", "--output=/dev/null", "--wrap", "true"
        ).stdout.strip()
        self.addCleanup(self.cluster.command, "scancel", blocker)
        refused = self.nkigrid(
            "submit", self.write("grid.yaml", self.model.grid(self.shards(99), replicates=5)), "-o", self.run_folder
        )
        self.check_refused(refused, 2, "elements and the aggregation are more jobs", "MaxJobCount 100", "in use")
        self.assertEqual(self.arrays_in_queue(), {blocker})

    def test_tables_of_a_failed_and_purged_array_tell_what_is_missing(self):
        self.model.delay = 0.3
        (array,) = self.submit(self.shards(3))
        self.wait_for_scored(3)
        self.cluster.command("scancel", f"{array}_1")
        self.model.delay = 0
        self.wait_for_queue()
        written = json.loads((self.run_folder / "tables/tables.json").read_text())
        self.assertGreater(written["outstanding"], 0, "the aggregation ran after an element that failed")
        self.assertTrue(all(cell["rate"] is None for cell in written["cells"] if cell["outstanding"] > 0))
        printed = harness.nkigrid("tables", self.run_folder)
        self.assertEqual(printed.returncode, 1)
        harness.wait_until(
            lambda: "JobId" not in self.cluster.command("scontrol", "show", "job").stdout, what="purged jobs"
        )
        self.assertEqual({e["state"] for e in self.status()["elements"]}, {"ENDED"})
        done = self.nkigrid("resume", self.run_folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("submitted array", done.stdout)
        self.wait_for_queue()
        self.check_undisturbed()

    def test_a_waiting_element_says_why(self):
        grid = self.shards(2)
        for node in ("trn1", "trn2", "trn3", "trn4"):
            self.cluster.command("scontrol", "update", f"nodename={node}", "state=drain", "reason=test")
        try:
            self.submit(grid)
            harness.wait_until(
                lambda: all(e["reason"] for e in self.status()["elements"]), what="a reason for each element"
            )
            text = self.nkigrid("status", self.run_folder).stdout
            self.assertIn("PENDING, ", text)
            self.assertIn("submitted ", text)
            self.assertTrue(all(e["age_seconds"] >= 0 for e in self.status()["elements"]))
        finally:
            for node in ("trn1", "trn2", "trn3", "trn4"):
                self.cluster.command("scontrol", "update", f"nodename={node}", "state=resume")
        self.wait_for_queue()
        self.check_undisturbed()


if __name__ == "__main__":
    unittest.main()
