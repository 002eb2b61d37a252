"""Costs learnt from earlier runs order and spread the work; no result depends on them."""
import json
import pathlib
import tempfile
import unittest

import h5py

from harness import SOURCE, environment, glob, mpirun, MPI_ENVIRONMENT, nkigrid, tables_json

GRID = SOURCE / "configs/smoke.yaml"


class Costs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        cls.first = cls.path / "first"
        done = nkigrid("run", GRID, "-o", cls.first, "--quiet")
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def plan(self, *more):
        done = nkigrid("plan", GRID, "--json", *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_the_plan_expects_what_the_earlier_run_took(self):
        took = {}
        for name in glob.glob(f"{self.first}/log/*.h5"):
            with h5py.File(name) as segment:
                rows = segment["episodes"]
                for cell, seconds, tokens in zip(rows["cell"][:], rows["seconds"][:], rows["tokens_out"][:]):
                    cell = cell.decode() if isinstance(cell, bytes) else str(cell)
                    sums = took.setdefault(cell, [0.0, 0])
                    sums[0] += float(seconds)
                    sums[1] += int(tokens)
        learnt, prior = self.plan("--costs", self.first), self.plan()
        self.assertEqual((prior["basis"], learnt["basis"]), ("prior", "learnt"))
        self.assertEqual(learnt["learnt_from"]["episodes"], 8)
        # Eight episodes on a machine that is busy with other tests: the mean of ratios is kept, not the sum.
        ratio = learnt["all"]["expected"]["seconds"] / sum(s for s, _ in took.values())
        self.assertTrue(1 / 3 < ratio < 3, ratio)
        self.assertNotEqual(learnt["all"]["expected"]["seconds"], prior["all"]["expected"]["seconds"])
        for cell in learnt["cells"]:
            self.assertLess(abs(cell["expected"]["tokens_out"] / took[cell["cell"]][1] - 1), 0.5, cell["cell"])

    def test_tables_are_the_same_bytes_whatever_costs_and_ranks(self):
        second = self.path / "second"
        done = nkigrid(
            "run",
            GRID,
            "-o",
            second,
            "--quiet",
            "--lanes",
            "1",
            "--costs",
            self.first,
            prefix=mpirun(3),
            env=environment(**MPI_ENVIRONMENT),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((second / "plan/costs.json").exists())
        self.assertFalse((self.first / "plan/costs.json").exists())
        self.assertEqual(tables_json(self.first), tables_json(second))

    def test_layouts_are_compared_as_asked(self):
        schedule = self.plan("--shards", "1,2,4", "--ranks", "1,2", "--node-price", "2")["schedule"]
        self.assertEqual(
            {(row["shards"], row["ranks_per_node"]) for row in schedule["layouts"]},
            {(s, r) for s in (1, 2, 4) for r in (1, 2)},
        )
        for row in schedule["layouts"]:
            self.assertGreaterEqual(row["makespan_s"], row["ideal_s"])
            self.assertAlmostEqual(row["node_usd"], 2 * row["node_hours"])
        self.assertTrue(schedule["reason"])
        self.assertEqual(schedule, self.plan("--shards", "1,2,4", "--ranks", "1,2", "--node-price", "2")["schedule"])

    def test_a_price_is_finite_and_not_negative(self):
        for price in ("inf", "nan", "-1", "1e999"):
            done = nkigrid("plan", GRID, f"--node-price={price}")
            self.assertEqual((done.returncode, done.stdout), (2, ""), price)
            self.assertIn("is no price", done.stderr)

    def test_a_pilot_is_learnt_from_too(self):
        self.assertEqual(self.plan("--pilot", self.first)["learnt_from"]["runs"], [str(self.first)])

    def test_layouts_are_printed_shortest_first(self):
        text = nkigrid("plan", GRID, "--shards", "1,4,2").stdout
        rows = [
            line[2:].split()[0] for line in text.split("makespan")[1].split("*: as the grid says")[0].splitlines()[2:]
        ]
        self.assertEqual(rows, ["4", "2", "1"])

    def test_costs_of_no_run_are_refused_before_anything_is_frozen(self):
        done = nkigrid("run", GRID, "-o", self.path / "third", "--costs", self.path / "absent")
        self.assertEqual(done.returncode, 2)
        self.assertIn("absent' is no run", done.stderr)
        self.assertFalse((self.path / "third/grid.yaml").exists())
        done = nkigrid("run", self.first, "--costs", self.first)
        self.assertEqual(done.returncode, 2)
        self.assertIn("keeps the costs it was frozen with", done.stderr)


if __name__ == "__main__":
    unittest.main()
