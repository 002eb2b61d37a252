"""Nodes and owners that die, come back, or live on unseen: nothing is lost, nothing counts twice."""
import json
import os
import pathlib
import signal
import subprocess
import unittest

from lab import THREE_SHARDS, DisturbedCase, harness, ranks_of, rows_of


def stepd_of(job):
    """Pid of the slurmstepd of a job's batch script."""
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                if (
                    pathlib.Path("/proc", entry, "cmdline")
                    .read_bytes()
                    .startswith(f"slurmstepd: [{job}.batch]".encode())
                ):
                    return int(entry)
            except OSError:
                pass
    return None


class Nodes(DisturbedCase):
    def element_job(self, array, element):
        """The job id that an element of an array has of its own once it runs."""
        lines = self.cluster.command("squeue", "-h", "-r", "-t", "R", "-o", "%i %A", "-j", str(array)).stdout.split(
            "\n"
        )
        return next((int(line.split()[1]) for line in lines if line.startswith(f"{array}_{element} ")), None)

    def test_an_owner_that_lost_its_stepd_keeps_its_shard_to_itself(self):
        (array,) = self.submit('{shards: 1, nodes: 1, ranks_per_node: 2, time: "00:10:00"}')
        self.wait_for_scored(4)
        stepd = stepd_of(self.element_job(array, 0))
        self.assertIsNotNone(stepd)
        os.kill(stepd, signal.SIGKILL)
        self.assertTrue(ranks_of(self.run_folder), "the ranks live on without their stepd")
        second = self.nkigrid("resume", self.run_folder, "--local")
        self.check_refused(second, 4, "another process runs shard 0")
        again = self.nkigrid("resume", self.run_folder)
        self.assertIn("already submitted", again.stdout, "Slurm takes the element for running")
        self.model.delay = 0
        harness.wait_until(lambda: not ranks_of(self.run_folder), what="the end of the orphaned ranks")
        self.finish()
        self.check_undisturbed()
        self.assertEqual(self.counted_rows(), {1})
        for name in self.cluster.command("squeue", "-h", "-r", "-t", "R,CG", "-o", "%N").stdout.split():
            # Slurm waits for a stepd that is gone: free the node for the next test.
            self.cluster.command("scontrol", "update", f"nodename={name}", "state=down", "reason=stepd")
            self.cluster.command("scontrol", "update", f"nodename={name}", "state=resume")
        self.cluster.command("scancel", "--full", "--user", str(os.geteuid()))

    def test_without_file_locks_attempts_tell_two_owners_apart(self):
        shim = {"LD_PRELOAD": str(harness.BUILD / "tests/lab/libno_locks.so")}
        self.submit_nothing()
        first = harness.start("run", self.run_folder, "--quiet", env=harness.environment(**shim))
        self.addCleanup(first.stderr.close)
        self.wait_for_scored(2)
        second = harness.start("run", self.run_folder, "--quiet", env=harness.environment(**shim))
        self.addCleanup(second.stderr.close)
        self.wait_for_scored(6)
        self.model.delay = 0
        first.wait(timeout=120)
        second.wait(timeout=120)
        self.finish()
        self.check_undisturbed()
        self.assertGreater(max(attempt for _, attempt in rows_of(self.run_folder, "episode", "attempt")), 1)

    def submit_nothing(self):
        """Freezes the run without starting it."""
        done = self.nkigrid(
            "submit", self.write("grid.yaml", self.model.grid("{shards: 1}")), "-o", self.run_folder, "--dry-run"
        )
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_node_that_goes_down_loses_no_turn(self):
        (array,) = self.submit()
        self.wait_for_scored(4)
        node = self.cluster.command("squeue", "-h", "-r", "-t", "R", "-o", "%N", "-j", f"{array}_0").stdout.split()[0]
        self.cluster.command("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
        self.cluster.command("scontrol", "update", f"nodename={node}", "state=resume")
        self.wait_for_queue()
        if harness.status(self.run_folder)["outstanding"] > 0:
            self.finish()
        self.check_undisturbed()
        self.assertEqual(self.counted_rows(), {1})
        self.assertTrue({row[0] for row in rows_of(self.run_folder, "node")} <= {"trn1", "trn2", "trn3", "trn4"})

    def test_a_requeued_element_continues_and_the_others_run_on(self):
        (array,) = self.submit()
        self.wait_for_scored(4)
        self.cluster.command("scontrol", "requeue", f"{array}_1")
        self.wait_for_queue()
        self.assertEqual(harness.status(self.run_folder)["outstanding"], 0, self.logs())
        self.check_undisturbed()
        self.assertEqual(self.counted_rows(), {1})
        # What was lost is at most the request in flight of each lane of the requeued element.
        self.assertLessEqual(self.model.requests, self.reference_requests + 2)

    def doctor(self, slurm, *options):
        grid = self.write("grid.yaml", self.model.grid(slurm))
        done = subprocess.run(
            [harness.NKIGRID, "doctor", str(grid), "--json", *options],
            env=self.cluster.environment(),
            capture_output=True,
            text=True,
            timeout=280,
            cwd=self.folder,
        )
        return done.returncode, json.loads(done.stdout)["findings"], done.stderr

    def test_doctor_looks_at_the_site_and_at_its_nodes_from_the_inside(self):
        held = THREE_SHARDS[:-1] + ', extra: ["--hold"]}'  # as a grid's elements may be, and a probe may not
        code, findings, stderr = self.doctor(held, "--probe", "--patience", "200")
        said = {finding["what"]: finding for finding in findings}
        for what in ("slurm", "slurm limits", "partition", "probe", "probe mpi", "probe device", "probe references"):
            self.assertTrue(said[what]["ok"], findings)
        self.assertRegex(said["probe device"]["text"], "^trn[1-4]: ")
        self.assertIn("3 shards are 1 array", said["slurm limits"]["text"])
        self.assertEqual(code, 0, stderr)
        self.assertEqual(list(self.folder.glob("nkigrid-probe-*")), [], "nothing is left behind")

    def test_doctor_names_a_partition_that_does_not_fit(self):
        for slurm, words in (
            ("{partition: gpu}", "no partition 'gpu' (legal: trn1)"),
            ("{nodes: 9}", "has 4 nodes, a shard asks for 9"),
        ):
            _, findings, _ = self.doctor(slurm)
            text = next(finding["text"] for finding in findings if finding["what"] == "partition")
            self.assertIn(words, text)

    def test_doctor_asks_slurm_what_submit_would_ask(self):
        for slurm, ok, words in (
            ("{shards: 3}", True, "would take the grid's elements"),
            ('{partition: "trn1,trn1"}', True, "would take the grid's elements"),
            ("{exclude: 'trn[1-4]'}", False, "0 of partition 'trn1' are left without trn[1-4]"),
            ("{mem: 900 GiB}", False, "0 of partition 'trn1' have slurm.mem"),
            ("{constraint: nosuch}", False, "look at slurm.constraint"),
            ("{gres: 'nosuch:1'}", False, "look at slurm.gres"),
            ("{reservation: nosuch}", False, "look at slurm.reservation"),
            ("{extra: ['--begin=now']}", False, "slurm.extra '--begin=now' cannot be sent"),
        ):
            code, findings, _ = self.doctor(slurm)
            found = next(finding for finding in findings if finding["what"] == "submit")
            self.assertEqual((found["ok"], code), (ok, 0 if ok else 4), findings)
            self.assertIn(words, found["text"])
        self.assertEqual(self.cluster.squeue().strip(), "", "nothing was submitted")
        self.cluster.command("scontrol", "update", "NodeName=trn[1-4]", "State=DRAIN", "Reason=test")
        try:
            code, findings, _ = self.doctor("{shards: 3}")
        finally:
            self.cluster.command("scontrol", "update", "NodeName=trn[1-4]", "State=RESUME")
        found = next(finding for finding in findings if finding["what"] == "submit")
        self.assertEqual((found["word"], code), ("lacking", 0), findings)
        self.assertIn("let them wait", found["text"])


if __name__ == "__main__":
    unittest.main()
