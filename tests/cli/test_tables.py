"""Tables of one run and of several: every table in every format, runs put together by key and seed."""
import csv
import io
import itertools
import json
import unittest

import harness
from harness import Case, nkigrid

SMOKE = harness.SOURCE / "configs/smoke.yaml"


class Tables(Case):
    @classmethod
    def setUpClass(cls):
        import pathlib
        import tempfile

        cls.box = pathlib.Path(tempfile.mkdtemp(prefix="nkigrid-test-"))
        changes = {
            "one": [],
            "two": [("seed: 7", "seed: 8")],
            "old": [('sdk: "2.24"', 'sdk: "2.23"'), ("name: smoke", "name: older")],
        }
        for name, edits in changes.items():
            text = SMOKE.read_text()
            for was, now in edits:
                assert was in text
                text = text.replace(was, now)
            (cls.box / f"{name}.yaml").write_text(text)
            done = nkigrid("run", cls.box / f"{name}.yaml", "-o", cls.box / name, "--quiet")
            if done.returncode != 0:
                raise AssertionError(done.stderr)

    @classmethod
    def tearDownClass(cls):
        import shutil

        shutil.rmtree(cls.box, ignore_errors=True)

    def tables(self, *runs, options=()):
        done = nkigrid("tables", *(self.box / run for run in runs), "--json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_every_table_in_every_format(self):
        names = [path.stem for path in sorted((self.box / "one/tables").glob("*.csv"))]
        for name in ["cells", "levels", "ablation", "pairs", "categories", "errors", "turns", "cost", "rules"]:
            self.assertIn(name, names)
        for name in names:
            rows = list(csv.reader(io.StringIO((self.box / f"one/tables/{name}.csv").read_text())))
            self.assertTrue(rows and all(len(row) == len(rows[0]) for row in rows), name)
        for form in ("text", "markdown", "latex", "json"):
            whole = nkigrid("tables", self.box / "one", "--table", "all", "--format", form)
            self.assertEqual(whole.returncode, 0, whole.stderr)
            self.assertIn('"usd_per_pass"' if form == "json" else "what a pass costs", whole.stdout)
        one = nkigrid("tables", self.box / "one", "--table", "rules", "--format", "csv")
        self.assertEqual(one.stdout, (self.box / "one/tables/rules.csv").read_text())

    def test_names_that_are_not_there_are_refused_with_those_that_are(self):
        for table, option, says in (
            ("ablation", "--against", "no model, mode or prompt is named 'nope'; there are: "),
            ("cost", "--relative-to", "nope"),
            ("cells", "--subset", "unknown subset 'nope'"),
        ):
            done = nkigrid("tables", self.box / "one", "--table", table, option, "nope")
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(says, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_several_tables_may_be_named_but_csv_holds_one(self):
        done = nkigrid("tables", "--table", "rules", "--table", "errors", self.box / "one", "--table", "rules")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            [
                done.stdout.count(words)
                for words in ("by each rule", "how scored episodes ended", "pass rate in percent")
            ],
            [1, 1, 0],
        )
        both = self.tables("one", options=["--table", "rules", "--table", "errors"])
        self.assertTrue("rules" in both and "errors" in both)
        refused = nkigrid("tables", self.box / "one", "--table", "rules", "--table", "errors", "--format", "csv")
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertIn("csv holds one table at a time (2 were asked for)", refused.stderr)

    def test_an_empty_table_says_what_would_fill_it(self):
        for form in ("text", "markdown", "latex"):
            done = nkigrid("tables", self.box / "one", "--table", "methods", "--format", form)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("nothing to show: no model has a `method`; give", done.stdout)
        done = nkigrid("tables", self.box / "one", "--table", "methods", "--format", "csv")
        self.assertEqual(len(done.stdout.splitlines()), 1)
        self.assertIn("nkigrid: methods: nothing to show: no model has a `method`", done.stderr)
        self.assertEqual(list(self.tables("one", options=["--table", "methods"])["empty"]), ["methods"])

    def test_an_ablation_draws_the_same_interval_each_time(self):
        one, again = (
            nkigrid("tables", self.box / "one", "--table", "ablation", "--format", "csv").stdout for _ in range(2)
        )
        self.assertEqual(one, again)
        self.assertEqual(one, (self.box / "one/tables/ablation.csv").read_text())
        for row in csv.DictReader(io.StringIO(one)):
            if row["value"] != row["baseline"]:
                self.assertNotEqual(
                    row["relative_method"] == "bca-drawn", bool(row["relative_reason"]), "an interval, or why none"
                )

    def test_the_rate_of_a_run_that_has_ended_is_its_own_whenever_one_asks(self):
        import h5py

        first, second = (json.loads(nkigrid("status", self.box / "one", "--json").stdout) for _ in range(2))
        ran = []
        for path in (self.box / "one/log").glob("*.h5"):
            with h5py.File(path) as segment:
                ran += zip(
                    segment["episodes/started"][:],
                    segment["episodes/started"][:] + segment["episodes/seconds"][:],
                    strict=True,
                )
        self.assertEqual(first["per_hour"], second["per_hour"])
        # Of the time in which one of them ran: a pause between two sessions is none.
        times = sorted({time for episode in ran for time in episode})
        worked = sum(b - a for a, b in itertools.pairwise(times) if any(begin <= a and b <= end for begin, end in ran))
        if worked >= 1:  # shorter ones have no rate
            self.assertAlmostEqual(first["per_hour"], 3600 * len(ran) / worked, delta=1e-6 * first["per_hour"])

    def test_status_after_a_dry_run_asks_no_slurm_that_is_not_there(self):
        run = self.box / "dry"
        dry = nkigrid(
            "submit", SMOKE, "-o", run, "--dry-run", env=harness.environment(SLURM_CONF="/nonexistent/slurm.conf")
        )
        self.assertEqual(dry.returncode, 0, dry.stderr)
        self.assertTrue((run / "scripts").is_dir())
        status = nkigrid("status", run, "--json", env=harness.environment(SLURM_CONF="/nonexistent/slurm.conf"))
        self.assertEqual((status.returncode, json.loads(status.stdout)["warning"]), (1, ""))

    def test_a_rule_that_lets_more_pass_is_told(self):
        words = "passes are by a laxer rule than the paper's: atol 0.5 for 0.001, 2 trials for 5"
        grid, run = self.write("grid.yaml", SMOKE.read_text()), self.folder / "lax"
        for sets in (("check.trials=2", "check.atol=0.5"), ("check.trials=6", "check.atol=0", "check.rtol=1e-4")):
            done = nkigrid("run", grid, "-o", run, "-q", *(f"--set={one}" for one in sets))
            self.assertEqual(done.returncode, 0, done.stderr)
            for options in ((), ("--table", "levels", "--format", "latex")):
                is_told = words in " ".join(nkigrid("tables", run, *options).stdout.replace("% ", "").split())
                self.assertEqual(is_told, sets[0] == "check.trials=2")
            run = self.folder / "stern"

    def test_another_seed_adds_replicates(self):
        one, two, both = self.tables("one"), self.tables("two"), self.tables("one", "two")
        for a, b, together in zip(one["cells"], two["cells"], both["cells"], strict=True):
            self.assertEqual(together["cell"], a["cell"])
            self.assertEqual(together["replicates"], 2)
            self.assertEqual(together["episodes"], 8)
            self.assertEqual(together["passed"], a["passed"] + b["passed"])

    def test_the_same_run_twice_counts_once(self):
        self.assertEqual(self.tables("one")["cells"], self.tables("one", "one")["cells"])

    def test_another_key_is_kept_apart_and_compared(self):
        both = self.tables("one", "old", options=["--table", "cost"])
        self.assertEqual(
            [cell["cell"] for cell in both["cells"]],
            [
                "expert.ss.rank-aware",
                "expert.agent.rank-aware",
                "expert.ss.rank-aware@older",
                "expert.agent.rank-aware@older",
            ],
        )
        runs = [(pair["a"], pair["b"]) for pair in both["pairs"] if pair["contrast"] == "runs"]
        self.assertEqual(
            runs,
            [
                ("expert.ss.rank-aware@older", "expert.ss.rank-aware"),
                ("expert.agent.rank-aware@older", "expert.agent.rank-aware"),
            ],
        )
        self.assertTrue(any("kept apart" in warning for warning in both["warnings"]))
        self.assertEqual(len(both["cost"]), 4)
        self.assertGreater(both["cost"][3]["tokens_out"], 0)

    def test_adjustment_and_interval_on_request(self):
        plain = self.tables("one")
        asked = self.tables("one", options=["--adjust", "bh", "--interval", "clopper-pearson"])
        self.assertEqual(plain["cells"][0]["interval"]["method"], "wilson-eff")
        self.assertEqual(asked["cells"][0]["interval"]["method"], "clopper-pearson")
        self.assertEqual(asked["adjust"], "bh")
        self.assertIn("p_bh", asked["pairs"][0])
        self.assertIn("p_holm", asked["pairs"][0])
        for option, word, hint in (
            ("--adjust", "hom", "holm"),
            ("--interval", "clopper", "clopper-pearson"),
            ("--by", "levels", "level"),
        ):
            refused = nkigrid("tables", self.box / "one", option, word)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(f"unknown word '{word}' of {option}", refused.stderr)
            self.assertIn(hint, refused.stderr)

    def test_a_pilot_gives_the_plan_its_variances(self):
        done = nkigrid("plan", self.box / "one.yaml", "--pilot", self.box / "one", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        pairs = json.loads(done.stdout)["power"]["pairs"]
        self.assertEqual([pair["basis"] for pair in pairs], ["pilot-total"])  # one replicate


if __name__ == "__main__":
    unittest.main()
