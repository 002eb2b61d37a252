"""Models' servers as jobs of the run: begun before its elements, ended when none of these is left, however they
ended."""
import json
import pathlib
import unittest

from lab import harness

from cluster import Cluster
from served import ServerCase

SLURM = 'slurm: {shards: 3, nodes: 1, ranks_per_node: 2, time: "00:10:00"}\n'


class Served(ServerCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster())

    def on_cluster(self, *args):
        return harness.nkigrid(*args, env=self.cluster.environment())

    def served_grid(self, *words, **keys):
        grid = self.grid(*words, **keys)
        text = (
            grid.read_text()
            .replace("key: {env: STUB_KEY}, ", "")
            .replace("lanes: 8", "lanes: 1")
            .replace("replicates: 2", "replicates: 6")
        )
        grid.write_text(text + SLURM)
        return grid

    def submit(self, *words, **keys):
        done = self.on_cluster("submit", self.served_grid(*words, **keys), "-o", self.run_folder, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def resume(self):
        done = self.on_cluster("resume", self.run_folder, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def wait_for_queue(self):
        harness.wait_until(lambda: not self.cluster.squeue().strip(), 200, "an empty queue\n" + self.logs())

    def wait_for_requests(self, count):
        requests = self.stub_folder / "requests"
        harness.wait_until(
            lambda: requests.exists() and len(self.requests()) >= count, 120, f"{count} requests\n" + self.logs()
        )

    def logs(self):
        paths = sorted(pathlib.Path(self.run_folder, "log").glob("*.out"))
        return self.cluster.squeue() + "\n".join(f"== {p.name}\n{p.read_text()[-2000:]}" for p in paths)

    def check_whole(self):
        state = harness.status(self.run_folder)
        self.assertEqual(state["outstanding"], 0, self.logs())
        self.assertEqual(set(harness.scored_rows(self.run_folder).values()), {1}, "an episode counts twice")
        tables = json.loads((self.run_folder / "tables/tables.json").read_text())
        self.assertEqual(tables["outstanding"], 0)

    def test_it_begins_before_the_elements_and_ends_after_the_last(self):
        told = self.submit("--delay", "0.3", "--child", replicas=2)
        self.assertEqual([(s["server"], s["replica"]) for s in told["servers"]], [("one", 0), ("one", 1)])
        first = told["servers"][0]["job"]
        shown = self.cluster.command("scontrol", "show", "job", "--oneliner", str(told["arrays"][0]["job"])).stdout
        self.assertTrue(f"Dependency=after:{first}" in shown or "JobState=RUNNING" in shown, shown)
        self.wait_for_requests(3)
        words = self.on_cluster("status", self.run_folder).stdout
        self.assertRegex(words, rf"server of model one, replica 0 \(job {first}\): healthy at http://\S+ since")
        again = self.on_cluster("resume", self.run_folder).stdout
        self.assertIn("already submitted", again)
        self.wait_for_queue()
        self.check_whole()
        self.check_none_left()
        self.assertEqual(len(self.starts()), 2)
        self.assertEqual(self.note("jobs.one.0")["text"], "ended with the run")

    def test_a_cancel_ends_it_and_a_resume_starts_another(self):
        told = self.submit("--delay", "0.5", "--child")
        self.wait_for_requests(3)
        done = self.on_cluster("cancel", self.run_folder, "--json")
        self.assertIn(told["servers"][0]["job"], json.loads(done.stdout)["cancelled"])
        again = self.resume()
        self.assertEqual(len(again["servers"]), 1)
        self.wait_for_queue()
        self.check_whole()
        self.assertEqual(len(self.starts()), 2)
        self.check_none_left()

    def test_one_that_is_cancelled_alone_blames_nobody(self):
        told = self.submit("--delay", "0.5")
        self.wait_for_requests(3)
        self.cluster.command("scancel", str(told["servers"][0]["job"]))
        self.wait_for_queue()
        state = harness.status(self.run_folder)
        self.assertGreater(state["outstanding"], 0)
        self.assertEqual([r for r in state["reasons"] if r in ("api_error", "parked")], [], state)
        self.assertIn("was told to end", state["stopped_by"])
        self.resume()
        self.wait_for_queue()
        self.check_whole()

    def test_one_that_cannot_begin_fails_the_elements_with_the_end_of_its_log(self):
        self.submit("--crash")
        self.wait_for_queue()
        state = json.loads(self.on_cluster("status", self.run_folder, "--json").stdout)
        self.assertEqual(state["outstanding"], state["episodes"])
        self.assertIn("ValueError: no such model", state["stopped_by"])
        self.assertEqual({e["state"] for e in state["elements"]}, {"FAILED"})

    def test_the_dry_run_shows_its_script(self):
        grid = self.served_grid(replicas=2, slurm={"gres": "gpu:1", "cpus": 3, "time": "2 h"})
        done = self.on_cluster("submit", grid, "-o", self.run_folder, "--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("--cpus-per-task=3", "--gres=gpu:1", "--time=120", "tend ", "'one' --replica 1 --job"):
            self.assertIn(words, done.stdout)
        submits = (self.run_folder / "scripts/submit.sh").read_text()
        self.assertIn("server_0=$(sbatch --parsable server-one-0.sh)", submits)
        self.assertIn('array_0=$(sbatch --parsable --dependency="after:$server_0" elements-0.sh)', submits)


if __name__ == "__main__":
    unittest.main()
