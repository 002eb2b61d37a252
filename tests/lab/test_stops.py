"""Time limits, signals and dead ranks: each drains or flushes, and the next attempt continues from the last durable
turn."""
import os
import signal
import time
import unittest

from lab import DisturbedCase, harness, ranks_of

ONE_MINUTE = '{{shards: 1, nodes: 1, ranks_per_node: 2, time: "00:01:00", warn: {warn} s}}'


class Stops(DisturbedCase):
    def test_an_element_ends_by_itself_before_its_time_limit(self):
        """Once warned by USR1, once only by the time left: Slurm has nothing to kill, and resume finishes. A limit that
        is lengthened meanwhile is noticed: that element runs on to its end."""
        self.model.delay = 2.5
        runs = {"warned": 35, "unwarned": 1}
        (longer,) = self.submit(ONE_MINUTE.format(warn=1), self.folder / "longer")
        arrays = {name: self.submit(ONE_MINUTE.format(warn=warn), self.folder / name)[0] for name, warn in runs.items()}
        self.wait_for_scored(1, self.folder / "longer")
        self.assertEqual(self.cluster.command("scontrol", "update", f"job={longer}", "TimeLimit=10").returncode, 0)
        harness.wait_until(lambda: self.ended(*arrays.values()), 150, "the end of both")
        self.model.delay = 0  # the third has outlived its first limit's stop
        self.wait_for_queue()
        for name, array in arrays.items():
            with self.subTest(name):
                run = self.folder / name
                self.assertEqual(self.job_state(array), {"0": ["FAILED", "1:0"]}, self.logs(run))
                state = harness.status(run)
                self.assertGreater(state["scored"], 0)
                self.assertGreater(state["outstanding"], 0)
                self.assertIn({"warned": "SIGUSR1", "unwarned": "time limit"}[name], state["stopped_by"])
                self.assertEqual(self.turns_abandoned(run), [], "no turn was begun that could not end in time")
                self.finish(run)
                self.check_undisturbed(run)
                self.model.delay = 2.5
        with self.subTest("longer"):
            run = self.folder / "longer"
            self.assertIn("the time limit was moved", self.logs(run))
            state = harness.status(run)
            self.assertEqual((state["outstanding"], state["stopped_by"]), (0, ""), self.logs(run))
            self.assertEqual(self.job_state(longer), {"0": ["COMPLETED", "0:0"]}, self.logs(run))
            self.check_undisturbed(run)

    def ended(self, *arrays):
        return not any(line.startswith(f"{array}_") for line in self.cluster.squeue().split("\n") for array in arrays)

    def turns_abandoned(self, run):
        return [line for line in self.logs(run).split("\n") if "turns in flight" in line and " 0 turns" not in line]

    def test_signals_of_every_reach(self):
        """scancel -b USR1 reaches the script, -f everything, plain scancel ends the job: none loses a durable turn."""
        (array,) = self.submit()
        self.wait_for_scored(3)
        self.cluster.command("scancel", "--batch", "--signal=USR1", f"{array}_0")
        self.cluster.command("scancel", "--full", "--signal=USR1", f"{array}_1")
        self.cluster.command("scancel", f"{array}_2")
        self.wait_for_queue()
        harness.wait_until(lambda: not ranks_of(self.run_folder), what="the end of every rank")
        states = self.job_state(array)
        self.assertEqual(states["0"], ["FAILED", "1:0"], self.logs())
        self.assertEqual(states["1"], ["FAILED", "1:0"], self.logs())
        self.assertEqual(states["2"][0], "CANCELLED")
        self.assertGreater(harness.status(self.run_folder)["outstanding"], 0)
        self.finish()
        self.check_undisturbed()
        self.assertEqual(self.counted_rows(), {1})
        # Two lanes of the cancelled element may lose the request in flight; the drained ones answer theirs.
        self.assertLessEqual(self.model.requests, self.reference_requests + 2)

    def test_a_rank_that_dies_takes_at_most_one_turn_a_lane(self):
        (array,) = self.submit('{shards: 1, nodes: 2, ranks_per_node: 2, time: "00:10:00"}')
        self.wait_for_scored(4)
        self.assertEqual(len(ranks_of(self.run_folder)), 4)
        victim = max(ranks_of(self.run_folder))
        os.kill(victim, signal.SIGKILL)
        started = time.monotonic()
        harness.wait_until(lambda: not ranks_of(self.run_folder), 60, "the end of every rank")
        self.assertLess(time.monotonic() - started, 40, "somebody hung")
        self.wait_for_queue()
        self.assertEqual(self.job_state(array)["0"][0], "FAILED", self.logs())
        self.finish()
        self.check_undisturbed()
        self.assertLessEqual(self.model.requests, self.reference_requests + 4)


if __name__ == "__main__":
    unittest.main()
