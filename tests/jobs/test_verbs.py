"""check, plan and bench through the real binary."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

BINARY = Path(os.environ["NKIGRID_BUILD_DIR"]) / "nkigrid"
DATA = Path(os.environ["NKIGRID_SOURCE_DIR"]) / "tests/data/jobs"


def run(*words, **kwargs):
    return subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, timeout=60, **kwargs)


class Verbs(unittest.TestCase):
    def setUp(self):
        self.box = Path(tempfile.mkdtemp(prefix="nkigrid-verbs."))
        self.addCleanup(shutil.rmtree, self.box)
        shutil.copytree(DATA, self.box, dirs_exist_ok=True)
        self.grid = self.box / "grid.yaml"

    def edit(self, what, by):
        text = self.grid.read_text()
        self.assertIn(what, text)
        self.grid.write_text(text.replace(what, by))

    def test_check_says_what_a_grid_comes_to(self):
        done = run("check", self.grid)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("tiny: 4 cells, 4 tasks, 32 episodes in 3 shards", done.stdout)
        self.assertIn("at most 80 requests", done.stdout)  # 16 single shots, 16 agents of 4 turns

    def test_check_json_has_the_contracts_keys(self):
        done = run("check", self.grid, "--json")
        answer = json.loads(done.stdout)
        self.assertEqual(
            [answer[key] for key in ("version", "cells", "episodes", "shards", "problems")], [1, 4, 32, 3, []]
        )
        self.assertRegex(answer["grid_hash"], "^[0-9a-f]{64}$")

    def test_check_reports_every_problem_and_exits_2(self):
        self.edit("seed: 11", "sede: 11")
        self.edit("profile: weak", "profile: week")
        self.edit("prompt: careful", "prompt: carefull")
        done = run("check", self.grid, "--json")
        self.assertEqual(done.returncode, 2)
        problems = json.loads(done.stdout)["problems"]
        places = [
            (str(self.grid), number, line.index(word) + 1)
            for number, line in enumerate(self.grid.read_text().splitlines(), 1)
            for word in ("sede", "week", "carefull")
            if word in line
        ]
        self.assertEqual([(p["file"], p["line"], p["col"]) for p in problems], places)
        self.assertEqual(problems[0]["message"], "unknown key 'sede' (did you mean 'seed'?)")
        lines = done.stderr.splitlines()
        self.assertEqual(lines[0], f"{self.grid}:6:1: unknown key 'sede' (did you mean 'seed'?)")
        self.assertEqual(lines[-1], f"nkigrid: 3 problems in '{self.grid}'")

    def test_check_of_broken_yaml_is_one_problem_with_its_place(self):
        self.grid.write_text("name: x\nmodels: {a: [}\n")
        done = run("check", self.grid)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr.splitlines()[0], rf"^{self.grid}:2:\d+: broken YAML: ")

    def test_check_of_a_missing_file_is_an_io_error(self):
        done = run("check", self.box / "none.yaml")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr, f"nkigrid: cannot open '{self.box}/none.yaml': No such file or directory\n")

    def test_costs_appear_where_a_model_has_a_price(self):
        self.edit(
            "strong: {api: synthetic, profile: strong}",
            'strong: {api: openai, endpoint: "http://h", price: {input: 5, output: 25}}',
        )
        self.assertRegex(run("check", self.grid).stdout, r"about \d+\.\d\d USD for the models with a price")
        cells = {cell["cell"]: cell for cell in json.loads(run("plan", self.grid, "--json").stdout)["cells"]}
        self.assertIsNone(cells["weak.ss.careful"]["usd_at_most"])
        priced = cells["strong.agent.careful"]
        self.assertAlmostEqual(
            priced["usd_at_most"], (5 * priced["tokens_in_at_most"] + 25 * priced["tokens_out_at_most"]) / 1e6
        )

    def test_plan_says_what_each_model_costs_and_since_when(self):
        (self.box / "prices.yaml").write_text(
            "prices:\n  - {model: m, from: 2020-01-01, input: 5, output: 25}\n"
            "  - {model: m, from: 2999-01-01, input: 1, output: 1}\n"
        )
        self.edit("strong: {api: synthetic, profile: strong}", 'strong: {api: openai, endpoint: "http://h", model: m}')
        self.edit("models:", "prices: prices.yaml\nmodels:")
        answer = json.loads(run("plan", self.grid, "--json").stdout)
        models = {model["model"]: model for model in answer["models"]}
        cells = [cell for cell in answer["cells"] if cell["cell"].startswith("strong.")]
        self.assertEqual(sorted(models), ["strong", "weak"])
        strong = models["strong"]
        self.assertEqual((strong["price_from"], models["weak"]["price_from"]), ("2020-01-01", None))
        self.assertIsNone(models["weak"]["usd_at_most"])
        for name in ("tokens_in_at_most", "tokens_out_at_most"):
            self.assertAlmostEqual(strong[name], sum(cell[name] for cell in cells))
        self.assertAlmostEqual(
            strong["usd_at_most"], (5 * strong["tokens_in_at_most"] + 25 * strong["tokens_out_at_most"]) / 1e6
        )
        self.assertAlmostEqual(strong["expected"]["usd"], sum(cell["expected"]["usd"] for cell in cells))
        printed = run("plan", self.grid).stdout
        self.assertRegex(printed, rf"(?m)^all of strong +16 .* {strong['usd_at_most']:.2f} ")
        self.assertIn("prices: strong from 2020-01-01", printed)

    def test_plan_lists_cells_and_what_differences_they_can_show(self):
        done = run("plan", self.grid)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"(?m)^weak\.agent\.careful +8 +32 ")
        self.assertRegex(done.stdout, r"(?m)^all +32 +80 ")
        self.assertIn("more replicates cannot help", done.stdout)
        power = json.loads(run("plan", self.grid, "--json", "--difference", "50").stdout)["power"]
        self.assertEqual(power["difference"], 0.5)
        self.assertTrue(power["pairs"])
        for pair in power["pairs"]:
            # (z_0.975 + z_0.8) sqrt((omega^2 + sigma_a^2/K_a + sigma_b^2/K_b)/n)
            variance = (
                pair["variance_between_tasks"]
                + pair["variance_replicate_a"] / pair["replicates_a"]
                + pair["variance_replicate_b"] / pair["replicates_b"]
            )
            self.assertAlmostEqual(
                pair["smallest_by_normal_approximation"], 2.801585218 * (variance / pair["tasks"]) ** 0.5, places=5
            )
            self.assertEqual(pair["basis"], "prior")
        refused = run("plan", self.grid, "--difference", "0")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--difference is 0 (above 0 and below 100 points is wanted)", refused.stderr)

    def test_bench_list_and_show(self):
        done = run("bench", "list", "--benchmark", self.box / "bench", "--subset", "ones")
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()[:2]], ["L1/001_add", "L1/002_relu"])
        shown = json.loads(run("bench", "show", "L1/001_add", "--json", "--benchmark", self.box / "bench").stdout)
        self.assertEqual(
            shown["inputs"][1], {"name": "y", "shape": [8, 16], "dtype": "float32", "role": "input", "domain": "real"}
        )
        self.assertEqual(shown["source"], (self.box / "bench/tasks/L1/001_add.py").read_text())
        wrong = run("bench", "show", "L1/001_ad", "--benchmark", self.box / "bench")
        self.assertEqual(wrong.returncode, 2)
        self.assertEqual(
            wrong.stderr,
            "nkigrid: no task 'L1/001_ad' in benchmark tiny-bench (did you mean 'L1/001_add'?); "
            "`bench list` names them\n",
        )


if __name__ == "__main__":
    unittest.main()
