"""A node whose device fails is named and left out of the next submission; no episode is parked for its sake."""
import json
import pathlib
import re
import unittest

from lab import DisturbedCase, harness

EXAMPLE = harness.SOURCE / "configs/command-example/site_device.py"

# Node by node: the process above that Slurm started knows it. A healthy node lets the canary kernel through the
# example's device and answers for all others by their text; on a node named in `failing` only the canary passes, on one
# named in `dead` nothing does.
DEVICE = r"""#!/bin/sh
p=$PPID
while [ "$p" -gt 1 ] && [ -z "$node" ]; do
  node=$(tr '\0' '\n' < /proc/$p/environ | sed -n 's/^SLURMD_NODENAME=//p')
  p=$(sed -n 's/^PPid:[^0-9]*//p' /proc/$p/status)
done
export NKIGRID_DEVICE_NKISIM={build}/nkisim
case " $(cat {folder}/dead) " in
  *" $node "*) echo '{{"ok":false,"code":"INFRA","message":"the device is gone"}}'; exit 0;;
esac
[ "$1" = verify ] && exec /usr/bin/python3 -B {example} verify
read -r request
case $request in *'"task":"canary/'*) printf '%s\n' "$request" | /usr/bin/python3 -B {example} compile; exit;; esac
case " $(cat {folder}/failing) " in
  *" $node "*) echo '{{"ok":false,"code":"INFRA","message":"the device was lost"}}'; exit 0;;
esac
case $(cksum < kernel.py) in [0-4]*) code=SHAPE_BROADCAST;; *[02468]" "*) code=DTYPE;; *) code=INDEXING;; esac
echo '{{"ok":false,"code":"'$code'","message":"no"}}'
"""


class BadNode(DisturbedCase):
    @classmethod
    def make_grid(cls, slurm):
        text = harness.SMALL.read_text()
        text = re.sub(r"(?m)^slurm:.*$", f"slurm: {slurm}", text)
        commands = f"compile: [{cls.device}, compile], verify: [{cls.device}, verify]"
        return text + f"lanes: 1\ndevice: {{backend: command, name: a test's, {commands}}}\n"

    @classmethod
    def prepare(cls, folder):
        cls.nodes = pathlib.Path(folder)
        cls.device = cls.nodes / "device"
        cls.device.write_text(DEVICE.format(build=harness.BUILD, folder=folder, example=EXAMPLE))
        cls.device.chmod(0o755)
        cls.break_nodes()

    @classmethod
    def break_nodes(cls, failing="none", dead="none"):
        (cls.nodes / "failing").write_text(failing)
        (cls.nodes / "dead").write_text(dead)

    def setUp(self):
        super().setUp()
        self.addCleanup(self.break_nodes)

    def bad_nodes(self):
        return [node["node"] for node in self.status()["bad_nodes"]]

    def excluded(self, job):
        return set(re.findall(r"ExcNodeList=(\S+)", self.cluster.command("scontrol", "show", "job", str(job)).stdout))

    def check_next_submission(self):
        """No episode was parked; the node is named; the next submission leaves it out and ends with the undisturbed
        tables."""
        state = self.status()
        self.assertGreater(state["outstanding"], 0, self.logs())
        self.assertNotIn("parked", state["reasons"])
        self.assertEqual(self.bad_nodes(), ["trn2"], state)
        self.assertIn("node trn2 ", self.nkigrid("status", self.run_folder).stdout)
        again = self.nkigrid("resume", self.run_folder)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("left out: node trn2", again.stdout)
        array = re.search(r"submitted array (\d+)", again.stdout).group(1)
        self.assertEqual(self.excluded(array), {"trn2"})
        self.wait_for_queue()
        self.check_undisturbed()
        self.assertEqual(self.bad_nodes(), ["trn2"], "the node is still known for the submission after that")

    def test_a_node_that_fails_all_it_is_given_ends_its_element_and_is_left_out(self):
        self.break_nodes(failing="trn2")
        self.submit('{shards: 4, nodes: 1, ranks_per_node: 2, time: "00:10:00"}')
        self.wait_for_queue()
        self.assertIn("node trn2: ", self.status()["stopped_by"])
        self.check_next_submission()

    def test_a_bad_node_parks_nothing_where_few_episodes_wait_either(self):
        self.break_nodes(failing="trn2")
        self.submit('{shards: 12, nodes: 1, ranks_per_node: 2, time: "00:10:00"}')
        self.wait_for_queue()
        self.check_next_submission()

    def test_a_node_on_which_no_element_can_begin_is_left_out(self):
        self.break_nodes(dead="trn2")
        (array,) = self.submit('{shards: 12, nodes: 1, ranks_per_node: 2, time: "00:10:00"}')
        self.wait_for_queue()
        # A node that fails at once is free at once: it would eat all that waits. Once another node has scored, what
        # waits keeps away.
        shown = self.cluster.command("scontrol", "show", "job", "--oneliner", str(array)).stdout.splitlines()
        warned = [re.search(r"JobState=(\S+)", line)[1] for line in shown if "ExcNodeList=trn2" in line]
        self.assertGreaterEqual(len(warned), 3, shown)
        self.assertEqual(set(warned), {"COMPLETED"})
        self.assertIn("the device is gone", self.status()["stopped_by"])
        self.check_next_submission()

    def test_a_run_of_one_element_leaves_its_only_node_for_another(self):
        """On an idle cluster Slurm would give the same node again and again."""
        self.break_nodes(failing="trn1 trn2 trn3 trn4")
        self.submit('{shards: 1, nodes: 1, ranks_per_node: 2, time: "00:10:00"}')
        self.wait_for_queue()
        (bad,) = self.bad_nodes()
        self.break_nodes(failing=bad)
        again = self.nkigrid("resume", self.run_folder)
        self.assertIn(f"left out: node {bad}", again.stdout, again.stderr)
        self.wait_for_queue()
        self.check_undisturbed()

    def test_the_other_node_of_an_element_does_what_the_bad_one_does_not(self):
        self.break_nodes(failing="trn2")
        self.submit('{shards: 1, nodes: 2, ranks_per_node: 1, time: "00:10:00", exclude: "trn3,trn4"}')
        self.wait_for_queue()
        self.check_undisturbed()
        self.assertEqual(self.bad_nodes(), ["trn2"])
        self.assertLess(self.status()["bad_nodes"][0]["failures"], 12, "it got little more after it was found out")

    def test_parked_episodes_run_when_asked_for_on_the_cluster_too(self):
        self.break_nodes(failing=" ".join(["trn1", "trn2", "trn3", "trn4"]))
        # Of one node alone it could be that node's fault.
        slurm = '{shards: 1, nodes: 2, ranks_per_node: 1, time: "00:05:00"}'
        grid = self.make_grid(slurm).replace("replicates: 2", "replicates: 1") + "infra_retries: 2\n"
        grid = re.sub(r"(?m)^tasks:.*$", "tasks: [L1/001_add, L1/002_gelu]", grid)
        grid = re.sub(r"(?m)^cells:(.|\n  )*", "cells: [{model: expert, mode: ss, prompt: rank-aware}]\n", grid)
        done = self.nkigrid("submit", self.write("grid.yaml", grid), "-o", self.run_folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.wait_for_queue()
        if set(self.status()["reasons"]) != {"parked"}:  # one node failed all of it before the other one had begun
            self.nkigrid("resume", self.run_folder)
            self.wait_for_queue()
        self.assertEqual(set(self.status()["reasons"]), {"parked"}, self.logs())
        self.assertIn("resume " + str(self.run_folder) + " --parked", self.nkigrid("status", self.run_folder).stdout)
        self.break_nodes()
        plain = self.nkigrid("resume", self.run_folder)
        self.assertEqual(plain.returncode, 1)
        self.assertIn("--parked", plain.stdout)
        again = self.nkigrid("resume", self.run_folder, "--parked")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.wait_for_queue()
        self.assertEqual(self.status()["outstanding"], 0, self.logs())


if __name__ == "__main__":
    unittest.main()
