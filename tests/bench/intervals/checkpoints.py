"""Methods: means over checkpoints that scatter, crossed with tasks; the form before and the separate t."""
import numpy as np
from scipy import special

from designs import COUPLED, QUANTILES, beta_table


def draw_method(rate, sd, icc, checkpoints, tasks, k, first, random):
    """Scores[round, checkpoint, task]; checkpoints' rates normal about `rate`, tasks' quantiles `first`."""
    rounds = first.shape[0]
    table = beta_table(rate, icc)
    shift = random.normal(0, sd, (rounds, checkpoints, 1)) if sd else np.zeros((rounds, checkpoints, 1))
    own = random.random((rounds, checkpoints, tasks)) >= COUPLED
    at = np.where(own, random.integers(0, QUANTILES, own.shape), first[:, None, :])
    return (
        random.binomial(
            k, np.clip(table[at] + shift * table[at] * (1 - table[at]) / np.mean(table * (1 - table)), 0, 1)
        )
        / k
    )


def t2(freedom):
    return special.stdtrit(freedom, 0.975) ** 2


def pieces(x):
    """Scatter of the checkpoints' means, interaction mean square; over rounds."""
    checkpoints, n = x.shape[1:]
    of_checkpoint, of_task = x.mean(axis=2), x.mean(axis=1)
    scatter = of_checkpoint.var(axis=1, ddof=1)
    rest = x - of_checkpoint[:, :, None] - of_task[:, None, :] + x.mean(axis=(1, 2))[:, None, None]
    return scatter, (rest**2).sum(axis=(1, 2)) / ((checkpoints - 1) * (n - 1))


def before(terms, twice):
    """One t with Satterthwaite's freedom for the sum. terms: (variance, freedom)."""
    total = sum(v for v, _ in terms) - twice
    largest = np.max([v for v, _ in terms], axis=0)
    variance = np.maximum(total, largest)
    freedom = variance**2 / sum(v * v / f for v, f in terms)
    return np.sqrt(special.stdtrit(freedom, 0.975) ** 2 * variance)


def separate(scatter, freedom, interaction, share, n, of_tasks, tasks_freedom):
    """share: 1/C of one method, 1/C_a + 1/C_b of two; scatter and interaction pooled over both."""
    excess = share * (t2(freedom) * scatter - t2(freedom * (n - 1)) * interaction / n)
    return np.sqrt(np.maximum(0, excess) + t2(tasks_freedom) * of_tasks / n)


def measure(sizes, sd, n, k, icc, rounds, random, rate=0.3):
    """Coverage and width before and after of a mean (one size) or a difference (two). A difference's truth is 0."""
    first = random.integers(0, QUANTILES, (rounds, n))
    methods = [draw_method(rate, sd, icc, c, n, k, first, random) for c in sizes]
    means = [x.mean(axis=1) for x in methods]
    d = means[0] - (means[1] if len(sizes) == 2 else 0)
    truth = 0 if len(sizes) == 2 else beta_table(rate, icc).mean()
    of_tasks, several = d.var(axis=1, ddof=1), [x for x in methods if x.shape[1] > 1]
    parts = [pieces(x) for x in several]
    freedom = sum(x.shape[1] - 1 for x in several)
    pooled = [sum((x.shape[1] - 1) * part[i] for x, part in zip(several, parts)) / freedom for i in (0, 1)]
    halves = {"after": separate(pooled[0], freedom, pooled[1], sum(1 / c for c in sizes), n, of_tasks, n - 1)}
    if min(sizes) > 1:
        terms = [(part[0] / x.shape[1], x.shape[1] - 1) for x, part in zip(several, parts)] + [(of_tasks / n, n - 1)]
        halves["before"] = before(terms, sum(part[1] / (x.shape[1] * n) for x, part in zip(several, parts)))
    else:
        halves["before"] = halves["after"]
    error = np.abs(d.mean(axis=1) - truth)
    return {name: (np.mean(error <= half + 1e-12), 2 * half.mean()) for name, half in halves.items()}


def designs(difference):
    pairs = ((2, 2), (3, 3), (2, 5), (1, 3)) if difference else ((2,), (3,), (5,))
    return [
        (c, sd, n, k, icc)
        for c in pairs
        for sd in (0, 0.02, 0.05)
        for n in (60, 150)
        for k in (1, 3)
        for icc in (0.1, 0.5)
    ]
