"""Designs of the bake-off, and grids drawn from them: tasks whose chances are Beta within levels."""
import dataclasses

import numpy as np
from scipy import stats

QUANTILES = 4096  # midpoints that stand for a Beta, so that the true rates are known to the last digit
COUPLED = 0.5  # share of tasks with the same quantile in both cells, as `plan` supposes


@dataclasses.dataclass(frozen=True)
class Design:
    tasks: int
    replicates: int
    rate: float
    icc: float  # of one episode, within level
    spread: float = 0.0  # levels lie so far apart, in logits
    levels: int = 3
    effect: float = 0.0  # of cell a over cell b, in logits; of all other cells alike

    def sizes(self):
        return [len(part) for part in np.array_split(np.arange(self.tasks), self.levels)]

    def strata(self):
        ends = np.cumsum(self.sizes())
        return [slice(end - size, end) for size, end in zip(self.sizes(), ends)]

    def level_rates(self, effect=0.0):
        offsets = np.linspace(self.spread, -self.spread, self.levels) if self.levels > 1 else np.zeros(1)
        logit = np.log(self.rate / (1 - self.rate))
        return 1 / (1 + np.exp(-(logit + offsets + effect)))


def beta_table(rate, icc):
    strength = 1 / icc - 1
    at = (np.arange(QUANTILES) + 0.5) / QUANTILES
    table = stats.beta.ppf(at, rate * strength, (1 - rate) * strength)
    return np.clip(np.nan_to_num(table, nan=0.0), 0, 1)


def draw_cells(design, effects, rounds, random):
    """Scores[cell][round, task], passes out of replicates, of cells with these effects; and each one's true rate."""
    cells = [np.empty((rounds, design.tasks), np.int16) for _ in effects]
    truths = np.zeros(len(effects))
    for level, stratum in enumerate(design.strata()):
        shape = (rounds, stratum.stop - stratum.start)
        first = random.integers(0, QUANTILES, shape)
        for c, effect in enumerate(effects):
            table = beta_table(design.level_rates(effect)[level], design.icc)
            at = (
                first
                if c == 0
                else np.where(random.random(shape) < COUPLED, first, random.integers(0, QUANTILES, shape))
            )
            cells[c][:, stratum] = random.binomial(design.replicates, table[at])
            truths[c] += table.mean() * shape[1] / design.tasks
    return cells, truths
