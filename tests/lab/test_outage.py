"""A model server that dies in mid-run, a copy of a run, held jobs, a late controller, tables that no aggregation makes:
what is whose fault, and whose job."""
import json
import os
import re
import shutil
import signal
import threading
import unittest

from lab import THREE_SHARDS, DisturbedCase, harness


class Outage(DisturbedCase):
    delay = 0.3

    @classmethod
    def make_grid(cls, slurm):
        return cls.model.grid(slurm).replace("temperature: 0", "temperature: 0, retry_limit: 8 s")

    def test_an_endpoints_outage_parks_nothing_and_blames_no_node(self):
        self.submit('{shards: 4, throttle: 2, nodes: 1, ranks_per_node: 2, time: "00:10:00"}')
        self.wait_for_scored(4)
        self.model.die()
        self.wait_for_queue()
        state = self.status()
        self.assertGreater(state["outstanding"], 0)
        self.assertNotIn("parked", state["reasons"], state)
        self.assertNotIn("api_error", state["reasons"], state)
        self.assertEqual(state["bad_nodes"], [])
        self.assertIn("endpoint", state["stopped_by"])
        self.assertNotIn("never answered", state["stopped_by"] + self.logs())
        self.assertEqual({e["state"] for e in state["elements"]}, {"FAILED"})
        self.model.revive()
        self.model.delay = 0
        again = self.nkigrid("resume", self.run_folder)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertNotIn("left out", again.stdout)
        self.wait_for_queue()
        self.check_undisturbed()

    def test_a_copy_owns_none_of_the_originals_jobs(self):
        (array,) = self.submit()
        self.wait_for_scored(2)
        copy = self.folder / "copy"
        shutil.copytree(self.run_folder, copy)
        self.assertEqual(self.status_of(copy)["elements"], [])
        self.assertIn("no living job", self.nkigrid("cancel", copy).stdout)
        self.assertEqual({e["job"] for e in self.status()["elements"]}, {array})
        own = self.nkigrid("resume", copy)
        self.assertEqual(own.returncode, 0, own.stderr)
        self.assertRegex(own.stdout, "submitted array")
        # Where the original was moved meanwhile, too: its jobs are the moved folder's.
        moved = self.folder / "moved"
        self.run_folder.rename(moved)
        again = self.folder / "again"
        shutil.copytree(moved, again)
        self.assertEqual(self.status_of(again)["elements"], [])
        self.assertIn("no living job", self.nkigrid("cancel", again).stdout)
        self.assertEqual({e["job"] for e in self.status_of(moved)["elements"]}, {array})
        moved.rename(self.run_folder)
        self.model.delay = 0
        self.wait_for_queue()
        self.check_undisturbed()
        self.check_undisturbed(copy)

    def status_of(self, run):
        return json.loads(self.nkigrid("status", run, "--json").stdout)

    def test_after_a_drain_one_resume_is_enough(self):
        (array,) = self.submit()
        harness.wait_until(lambda: list((self.run_folder / "log").glob("s0-r*.journal")), what="element 0 at work")
        self.wait_for_scored(3)
        self.model.delay, held = 100, self.model.requests  # what is in flight holds the element
        harness.wait_until(lambda: self.model.requests >= held + 6, what="a request of every lane")
        self.cluster.command("scancel", "--batch", "--signal=USR1", f"{array}_0")
        harness.wait_until(lambda: 0 in self.noted_shards(), what="a note of element 0")
        self.assertIn(f"{array}_0 RUNNING", self.cluster.squeue())
        again = self.nkigrid("resume", self.run_folder)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertRegex(again.stdout, r"submitted array \d+ \(elements 0, ")
        self.model.delay = 0
        self.wait_for_queue()
        self.check_undisturbed()

    def noted_shards(self):
        notes = (self.run_folder / "log/stopped_by").glob("shard-*")
        return {int(note.name[6:]) for note in notes if note.read_text().strip()}

    def test_the_last_element_makes_the_tables_that_no_aggregation_will(self):
        self.submit()
        aggregation = self.status()["aggregation"]
        self.assertEqual(aggregation["state"], "PENDING")
        self.assertIn(f"tables (job {aggregation['job']}): PENDING", self.nkigrid("status", self.run_folder).stdout)
        self.cluster.command("scancel", str(aggregation["job"]))
        self.model.delay = 0
        self.wait_for_queue()
        self.assertEqual(json.loads((self.run_folder / "tables/tables.json").read_text())["outstanding"], 0)
        self.check_undisturbed()
        self.assertIn("nothing to submit", self.nkigrid("resume", self.run_folder).stdout)
        self.assertNotIn("tables (job", self.nkigrid("status", self.run_folder).stdout, "they are made")
        shutil.rmtree(self.run_folder / "tables")
        redone = self.nkigrid("resume", self.run_folder)
        self.assertIn("makes the tables anew", redone.stdout, redone.stderr)
        self.wait_for_queue()
        self.assertEqual(json.loads((self.run_folder / "tables/tables.json").read_text())["outstanding"], 0)

    def test_a_held_job_is_a_submitted_job(self):
        grid = self.write("grid.yaml", self.make_grid(THREE_SHARDS[:-1] + ', extra: ["--hold"]}'))
        done = self.nkigrid("submit", grid, "-o", self.run_folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        array = re.search(r"submitted array (\d+)", done.stdout)[1]
        self.assertIn(f"held, as slurm.extra asks; `scontrol release {array}` lets them start", done.stdout)
        element = self.status()["elements"][0]
        self.assertEqual(element["state"], "PENDING")
        self.assertIn("held by", element["reason"])
        self.assertIn(f"scontrol release {array}_", element["advice"])
        self.assertEqual(self.cluster.command("scontrol", "release", str(array)).returncode, 0)
        self.model.delay = 0
        self.wait_for_queue()
        self.check_undisturbed()

    def test_a_controller_that_answers_late_is_waited_for(self):
        self.model.delay = 0
        self.submit()
        self.wait_for_queue()
        self.cluster.controller.send_signal(signal.SIGSTOP)
        waker = threading.Timer(6, self.cluster.controller.send_signal, (signal.SIGCONT,))
        waker.start()
        self.addCleanup(waker.join)
        late = self.nkigrid("status", self.run_folder, "--json")
        self.assertNotIn("warning", late.stderr)
        self.assertIn("Slurm has not answered yet; waiting as long as its own commands do, 10 s", late.stderr)
        self.assertEqual(len(json.loads(late.stdout)["elements"]), 3)

    def test_submit_and_doctor_look_for_mpirun_in_path(self):
        folder = self.folder / "bin"
        folder.mkdir()
        grid = self.write("grid.yaml", self.make_grid(THREE_SHARDS))
        refused = self.nkigrid("submit", grid, "-o", self.run_folder, PATH=str(folder))
        self.check_refused(refused, 4, "no 'mpirun' in PATH")
        self.assertFalse(self.run_folder.exists())
        for path, ok in ((str(folder), False), (os.environ["PATH"], True)):
            found = json.loads(self.nkigrid("doctor", grid, "--json", PATH=path).stdout)["findings"]
            mpi = next(finding for finding in found if finding["what"] == "mpi")
            self.assertEqual(mpi["ok"], ok, mpi)

    def test_plan_has_no_more_at_work_than_the_nodes_bear(self):
        slurm = '{shards: 16, nodes: 1, ranks_per_node: 2, time: "00:10:00"}'
        forecast = self.nkigrid("plan", self.write("grid.yaml", self.make_grid(slurm)), "--json")
        schedule = json.loads(forecast.stdout)["schedule"]
        self.assertEqual(schedule["elements_that_fit"], 4)
        for layout in schedule["layouts"]:
            at_once = layout["shards"] if layout["throttle"] == 0 else min(layout["throttle"], layout["shards"])
            self.assertLessEqual(at_once * layout["nodes"], 4, layout)


if __name__ == "__main__":
    unittest.main()
