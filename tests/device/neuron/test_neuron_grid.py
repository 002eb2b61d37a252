"""A whole run on the neuron backend, its compiler and runtime stand-ins: the tables are the simulator's."""
import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "cli"))
import harness  # noqa: E402
from harness import BUILD, SOURCE, Case, environment, nkigrid  # noqa: E402

GRID = """name: neuron-small
benchmark: nkigen-bench
tasks: ["L1/002_*", "L2/001_*"]
replicates: 2
seed: 7
device: {DEVICE}
check: {trials: 2, tool_trials: 1}
models:
  expert: {api: synthetic, profile: expert}
modes:
  agent: {kind: tool-agent, turns: 4}
prompts: {rank-aware: prompts/rank-aware.md}
cells:
  - {model: expert, mode: agent, prompt: rank-aware}
slurm: {shards: 1, nodes: 1, ranks_per_node: 1, time: "00:10:00"}
"""


class NeuronGrid(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "control").mkdir()
        (self.folder / "libnrt.so.1").symlink_to(os.environ["NKIGRID_FAKE_NRT"])
        python = self.write(
            "python",
            f"#!/bin/sh\nexport FAKE_NEURON={self.folder} PYTHONPATH={SOURCE}/tests/device/neuron/fake:{BUILD}/nkisim\n"
            'exec /usr/bin/python3 "$@"\n',
        )
        python.chmod(0o700)
        self.device = f"{{backend: neuron, python: {python}, libnrt: {self.folder}/libnrt.so.1, cores: [0, 1]}}"
        self.env = environment(NKIGRID_CORES=str(self.folder / "cores"))

    def run_grid(self, name, device):
        done = nkigrid(
            "run",
            self.write(f"{name}.yaml", GRID.replace("{DEVICE}", device)),
            "-o",
            self.folder / name,
            "--lanes",
            2,
            "--quiet",
            env=self.env,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(harness.tables_json(self.folder / name))

    def test_the_tables_equal_the_simulators(self):
        neuron, simulator = self.run_grid("neuron", self.device), self.run_grid("sim", "{backend: sim}")
        self.assertEqual(neuron["outstanding"], 0)
        self.assertEqual(neuron["cells"], simulator["cells"])
        self.assertTrue(any(cell["passed"] > 0 for cell in neuron["cells"]))

    def test_a_broken_compiler_is_one_clear_error_and_no_models_failure(self):
        self.write("control/compiler", "exit 70 [F134] no space left on device\n")
        done = nkigrid(
            "run",
            self.write("grid.yaml", GRID.replace("{DEVICE}", self.device)),
            "-o",
            self.folder / "run",
            env=self.env,
        )
        self.check_refused(done, 4, "the canary kernel of the neuron backend fails on this machine", "[F134]")

    def test_a_node_without_neuron_parts_is_told_so(self):
        done = nkigrid(
            "run",
            self.write("grid.yaml", GRID.replace("{DEVICE}", "{backend: neuron}")),
            "-o",
            self.folder / "run",
            env=self.env,
        )
        self.check_refused(done, 4, "no Neuron virtual environment on this machine")


if __name__ == "__main__":
    unittest.main()
