"""`reverify`: kernels judged anew on another tolerance and on a device of programs; flips and tests against numpy and
scipy over the episodes of both runs."""

import json
import pathlib
import shutil
import tempfile
import unittest

import numpy as np
from harness import BUILD, MPI_ENVIRONMENT, SMALL, SOURCE, Case, environment, mpirun, nkigrid
from scipy.stats import permutation_test

TASKS = '["L1/00[1-2]_*", "L2/00[1-2]_*"]'
FEW = SMALL.read_text().replace('["L1/00[1-4]_*", "L2/00[1-2]_*"]', TASKS)
TIGHT = """
name: tight
benchmark: nkigen-bench
tasks: ["L1/00[1-4]_*", "L2/00[1-2]_*"]
seed: 99
check: {atol: 1.0e-9, rtol: 1.0e-9, trials: 2}
models: {any: {api: synthetic, profile: novice}}
modes: {ss: {kind: single-shot}}
prompts: {rank-aware: prompts/rank-aware.md}
cells:
  - {model: any, mode: ss, prompt: rank-aware}
"""


def rows(run):
    done = nkigrid("export", run)
    exported = map(json.loads, done.stdout.splitlines())
    return {row["episode"]: row for row in exported if row["outcome"] != "killed"}


def ending(row):
    return "pass" if row["passed"] else row["group"] or row["outcome"]


def tables(*words):
    return json.loads(nkigrid("tables", *words, "--json", "--by", "level").stdout)


def exact_p(differences):
    """Over all ways to flip the signs of tasks' differences (a 0 has none), two-sided, by scipy."""
    moved = differences[differences != 0]
    if len(moved) < 2:
        return 1.0
    return permutation_test(
        (moved,), lambda d, axis: d.sum(axis=axis), permutation_type="samples", n_resamples=np.inf
    ).pvalue


def holm(p_values):
    """Holm's step-down p, in the order given."""
    order, adjusted = np.argsort(p_values, kind="stable"), np.empty(len(p_values))
    steps = np.array(p_values)[order] * np.arange(len(p_values), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted


def mid_p(differences):
    """P(more extreme) + P(as extreme)/2."""
    moved = differences[differences != 0]
    if len(moved) == 0:
        return 1.0
    signs = 1 - 2 * (np.arange(2 ** len(moved))[:, None] >> np.arange(len(moved)) & 1)
    sums, seen = np.abs(signs @ moved), abs(moved.sum())
    return np.mean(sums > seen + 1e-9) + np.mean(np.abs(sums - seen) <= 1e-9) / 2


class Reverify(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.box = pathlib.Path(tempfile.mkdtemp(prefix="nkigrid-reverify-"))
        cls.addClassCleanup(shutil.rmtree, cls.box, ignore_errors=True)
        cls.run_folder, cls.tight = cls.box / "run", cls.box / "tight"
        (cls.box / "few.yaml").write_text(FEW)
        done = nkigrid("run", cls.box / "few.yaml", "-o", cls.run_folder, "-q")
        assert done.returncode == 0, done.stderr
        (cls.box / "tight.yaml").write_text(TIGHT)
        cls.done = cls.reverify("tight")
        assert cls.done.returncode == 0, cls.done.stderr
        cls.before, cls.after = rows(cls.run_folder), rows(cls.tight)

    @classmethod
    def reverify(cls, name, *more, run=None, grid=None, env=None):
        words = ("--device", grid or cls.box / "tight.yaml", "-o", f"{cls.box}/{name}", "-q", *more)
        return nkigrid("reverify", run or cls.run_folder, *words, env=env)

    def differences(self, was, cell, scope):
        """By task: the mean over replicates of after - before. @param was of a row -> 0 or 1"""
        tasks = {}
        for name, old in self.before.items():
            if old["cell"] == cell and scope in ("all", old["level"]):
                tasks.setdefault(old["task"], []).append(was(self.after[name]) - was(old))
        return np.array([np.mean(values) for values in tasks.values()])

    def test_the_same_kernels_are_judged_and_old_verdicts_stay(self):
        self.assertEqual(set(self.before), set(self.after))
        for name, old in self.before.items():
            new = self.after[name]
            self.assertNotEqual(old["key"], new["key"])
            if old["outcome"] not in ("pass", "mismatch"):
                self.assertEqual((new["outcome"], new["code"]), (old["outcome"], old["code"]), name)
            same = ("synthetic", "turns", "ended_by", "nudged")
            self.assertEqual([new[key] for key in same], [old[key] for key in same], name)
            self.assertEqual((new["tokens_in"], new["cost_usd"]), (0, 0), "nothing was asked")
        self.assertEqual(rows(self.run_folder), self.before)
        lost = [n for n in self.before if self.before[n]["passed"] and not self.after[n]["passed"]]
        self.assertTrue(lost, "a tolerance of 1e-9 must fail some kernel")

    def test_changes_are_what_a_script_counts(self):
        changes = {}
        for name, old in self.before.items():
            key = (old["cell"], "tight", old["level"], ending(old), ending(self.after[name]))
            changes[key] = changes.get(key, 0) + 1
        names = ("cell", "run", "level", "before", "after")
        told = tables(self.run_folder, self.tight, "--table", "changes")["changes"]
        self.assertEqual({tuple(row[name] for name in names): row["episodes"] for row in told}, changes)

    def test_paired_tests_by_level_are_those_of_numpy_and_scipy(self):
        for words, p_of in (((), mid_p), (("--test", "exact"), exact_p)):
            pairs = tables(self.run_folder, self.tight, "--table", "pairs", *words)["pairs"]
            pairs = [pair for pair in pairs if pair["contrast"] == "runs"]
            levels = {row["level"] for row in self.before.values()}
            self.assertEqual({pair["scope"] for pair in pairs}, {"all", *levels})
            for pair in pairs:
                differences = self.differences(lambda row: row["passed"], pair["b"], pair["scope"])
                self.assertEqual(pair["a"], pair["b"] + "@tight")
                self.assertAlmostEqual(pair["difference"], differences.mean(), places=6)
                self.assertAlmostEqual(pair["p"], p_of(differences), places=5)

    def test_paired_tests_by_error_class_are_those_of_numpy_and_scipy(self):
        for words, p_of in (((), mid_p), (("--test", "exact"), exact_p)):
            told = tables(self.run_folder, self.tight, "--table", "change-tests", *words)["change_tests"]
            self.assertIn("NUMERIC", " ".join(row["ending"] for row in told))
            questions = {}  # scope all or not: what rows ask, a pass that is lost to an error as that error is won: p
            for row in told:
                counts = {"before": 0, "after": 0, "came": 0, "left": 0}
                for name, old in self.before.items():
                    if old["cell"] != row["cell"] or row["scope"] not in ("all", old["level"]):
                        continue
                    was, now = ending(old) == row["ending"], ending(self.after[name]) == row["ending"]
                    for key, holds in zip(counts, (was, now, now and not was, was and not now)):
                        counts[key] += holds
                self.assertEqual({key: row[key] for key in counts}, counts)
                of_ending = lambda episode: int(ending(episode) == row["ending"])  # noqa: E731
                differences = self.differences(of_ending, row["cell"], row["scope"])
                self.assertAlmostEqual(row["difference"], differences.mean(), places=6)
                self.assertAlmostEqual(row["p"], p_of(differences), places=5)
                if row["came"] + row["left"] > 0:
                    asked = max(tuple(differences), tuple(-differences))
                    family = questions.setdefault(row["scope"] == "all", {})
                    family.setdefault((row["cell"], row["run"], row["scope"], asked), []).append(row)
            for family in questions.values():
                for rows, p in zip(family.values(), holm([rows[0]["p"] for rows in family.values()])):
                    for row in rows:
                        self.assertAlmostEqual(row["p_holm"], p, places=5)

    def test_the_verb_prints_the_tables(self):
        self.assertIn("episodes that ended otherwise in another run", self.done.stdout)
        self.assertRegex(self.done.stdout, r"expert\.agent\.rank-aware@tight: \d+ of 8 episodes ended alike")
        self.assertIn("ways to end that episodes came to and left", self.done.stdout)

    def test_a_frozen_one_runs_like_any_run_on_several_ranks_and_in_another_folder(self):
        done = self.reverify("frozen/", "--freeze-only")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(nkigrid("status", self.box / "frozen", "--json").stdout)["scored"], 0)
        moved = self.folder / "moved"
        shutil.move(self.box / "frozen", moved)
        done = nkigrid("run", moved, "-q", prefix=mpirun(2), env=environment(**MPI_ENVIRONMENT))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(tables(moved)["cells"], tables(self.tight)["cells"])
        self.assertEqual(nkigrid("log", "check", moved).returncode, 0)

    def test_it_is_read_where_the_run_that_it_judged_is_gone(self):
        before = tables(self.tight)
        away = self.run_folder.rename(self.box / "away")
        self.addCleanup(away.rename, self.run_folder)
        self.assertEqual(tables(self.tight), before)

    def test_kernels_of_an_earlier_turn(self):
        done = self.reverify("first", "--turns", "1", "--set", "check.atol=1e-3", "--set", "check.rtol=1e-3")
        self.assertEqual(done.returncode, 0, done.stderr)
        agents = {n: row for n, row in rows(self.box / "first").items() if ".agent." in row["cell"]}
        self.assertEqual({row["turns"] for row in agents.values()}, {1})
        for name, row in agents.items():
            if self.before[name]["turns"] == 1:
                self.assertEqual(row["passed"], self.before[name]["passed"], name)

    def test_on_programs_of_a_site_every_verdict_stays(self):
        folder = self.folder / "site"
        shutil.copytree(SOURCE / "configs/command-example", folder)
        example = (folder / "grid.yaml").read_text()
        device = example[example.index("device:") : example.index("models:")]
        tight = "check: {atol: 1.0e-9, rtol: 1.0e-9, trials: 2}\n"
        (folder / "again.yaml").write_text(TIGHT.replace("name: tight", "name: site").replace(tight, device))
        env = environment(NKIGRID_DEVICE_NKISIM=str(BUILD / "nkisim"))
        done = self.reverify("command", grid=folder / "again.yaml", env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        after = rows(self.box / "command")
        for name, old in self.before.items():
            self.assertEqual(after[name]["passed"], old["passed"], name)

    def test_what_cannot_be_judged_is_refused_and_leaves_no_folder(self):
        self.assertEqual(self.reverify("half", "--freeze-only").returncode, 0)
        unfinished = self.reverify("quarter", run=self.box / "half")
        self.check_refused(unfinished, 2, "32 episodes of", "resume")
        self.check_refused(self.reverify("tight"), 2, "exists", "-o")
        other = self.write("other.yaml", TIGHT.replace("benchmark: nkigen-bench", "benchmark: nowhere"))
        self.check_refused(self.reverify("none", grid=other), 2, "nowhere")
        self.assertEqual(sorted(p.name for p in self.box.glob("quarter*")) + list(self.box.glob("*making*")), [])


if __name__ == "__main__":
    unittest.main()
