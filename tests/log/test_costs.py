"""Fitted costs against numpy: known effects are recovered, heavy tails do little harm, what was never seen is expected
at its model's and mode's cost."""
import json
import os
import subprocess
import unittest

import numpy as np

FIT = os.environ["NKIGRID_FIT_COSTS"]
MODELS, MODES, PROMPTS, TASKS = ["m0", "m1", "m2"], ["ss", "mt", "agent"], ["a", "b"], 60
SIGMA = dict(model=0.6, mode=0.8, cell=0.2, level=0.5, task=0.3, noise=0.4)


class Truth:
    """Effects drawn once, and log ratios of episodes under them."""

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        self.common = 0.7
        self.model = {m: rng.normal(0, SIGMA["model"]) for m in MODELS}
        self.mode = {m: rng.normal(0, SIGMA["mode"]) for m in MODES}
        self.cells = [(f"{m}.{k}.{p}", m, k) for m in MODELS for k in MODES for p in PROMPTS]
        self.cell = {c: rng.normal(0, SIGMA["cell"]) for c, _, _ in self.cells}
        self.level = {f"L{i}": rng.normal(0, SIGMA["level"]) for i in (1, 2, 3)}
        self.tasks = [(f"L{1 + t % 3}/{t}", f"L{1 + t % 3}") for t in range(TASKS)]
        self.task = {t: rng.normal(0, SIGMA["task"]) for t, _ in self.tasks}

    def middle(self, cell, task):
        (c, m, k), (t, level) = cell, task
        return self.common + self.model[m] + self.mode[k] + self.cell[c] + self.level[level] + self.task[t]

    def observe(self, replicates, cells=None, tail=0.0):
        rows = []
        for cell in cells or self.cells:
            for task in self.tasks:
                for _ in range(replicates):
                    noise = self.rng.normal(0, SIGMA["noise"]) + (6.0 if self.rng.random() < tail else 0.0)
                    rows.append((cell, task, self.middle(cell, task) + noise))
        return rows


def fit(rows):
    lines = "".join(f"{m} {k} {c} {level} {t} {y:.17g}\n" for (c, m, k), (t, level), y in rows)
    return json.loads(subprocess.run([FIT], input=lines, check=True, capture_output=True, text=True).stdout)["seconds"]


def predicted(found, cell, task):
    (c, m, k), (t, level) = cell, task
    parts = (("model", m), ("mode", k), ("cell", c), ("level", level), ("task", t))
    return found["common"] + sum(found[factor].get(name, 0.0) for factor, name in parts)


def blup(rows, truth):
    """Henderson's equations, dense, with the variances that the data were drawn with."""
    names = {}
    for factor in ("model", "mode", "cell", "level", "task"):
        for name in getattr(truth, factor):
            names[factor, name] = len(names) + 1
    z = np.zeros((len(rows), len(names) + 1))
    z[:, 0] = 1
    for i, ((c, m, k), (t, level), _) in enumerate(rows):
        for key in (("model", m), ("mode", k), ("cell", c), ("level", level), ("task", t)):
            z[i, names[key]] = 1
    y = np.array([row[2] for row in rows])
    ridge = np.diag([0.0] + [SIGMA["noise"] ** 2 / SIGMA[factor] ** 2 for factor, _ in names])
    solution = np.linalg.solve(z.T @ z + ridge, z.T @ y)
    return z @ solution


class Costs(unittest.TestCase):
    def test_known_effects_are_recovered_as_a_dense_solution_does(self):
        truth = Truth(1)
        rows = truth.observe(2)
        found = fit(rows)
        ours = np.array([predicted(found, cell, task) for cell, task, _ in rows])
        true = np.array([truth.middle(cell, task) for cell, task, _ in rows])
        dense = blup(rows, truth)
        self.assertLess(
            np.sqrt(np.mean((ours - true) ** 2)), 0.08
        )  # 2160 observations of sigma 0.4, about 80 effects: 0.4 sqrt(80/2160)
        self.assertLess(np.sqrt(np.mean((ours - dense) ** 2)), 0.03)

    def test_one_in_fifty_a_thousandfold_too_long_moves_little(self):
        truth = Truth(2)
        rows = truth.observe(2, tail=0.02)
        found = fit(rows)
        error = np.array([predicted(found, cell, task) - truth.middle(cell, task) for cell, task, _ in rows])
        self.assertLess(np.sqrt(np.mean(error**2)), 0.12)
        plain = blup(rows, truth)
        self.assertGreater(
            np.sqrt(np.mean((plain - [truth.middle(c, t) for c, t, _ in rows]) ** 2)), 2 * np.sqrt(np.mean(error**2))
        )

    def test_a_cell_that_was_never_seen_costs_what_its_model_and_mode_cost(self):
        truth = Truth(3)
        unseen = truth.cells[7]
        found = fit(truth.observe(3, [cell for cell in truth.cells if cell != unseen]))
        error = [predicted(found, unseen, task) - truth.middle(unseen, task) for task in truth.tasks]
        self.assertLess(abs(np.mean(error)), 3 * SIGMA["cell"])
        self.assertLess(np.std(error), 0.1)  # tasks keep their differences

    def test_the_mean_is_kept_exactly_by_the_noise(self):
        truth = Truth(4)
        rows = truth.observe(3)
        found = fit(rows)
        residual = np.array([y - predicted(found, cell, task) for cell, task, y in rows])
        self.assertEqual(len(found["noise"]), 200)
        self.assertAlmostEqual(
            np.mean(np.exp(found["noise"])), np.mean(np.exp(residual)), delta=2e-3 * np.mean(np.exp(residual))
        )

    def test_one_observation_moves_its_own_cell_less_than_it_says(self):
        rows = Truth(5).observe(1)
        found = fit(rows[:1])
        self.assertLessEqual(abs(found["task"][rows[0][1][0]]), abs(rows[0][2]))
        self.assertAlmostEqual(predicted(found, rows[0][0], rows[0][1]), rows[0][2], delta=1e-3)

    def test_the_same_history_gives_the_same_bytes(self):
        rows = Truth(6).observe(1)
        self.assertEqual(fit(rows), fit(rows))


if __name__ == "__main__":
    unittest.main()
