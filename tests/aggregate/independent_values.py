#!/usr/bin/python3
"""Prints the values that task_weights_test, pair_power_test, power_plan_test, checkpoints_test hold us against: numpy
and scipy only, nothing of nkigrid. Run it by hand: /usr/bin/python3 tests/aggregate/independent_values.py"""
import math

import numpy as np
from scipy import optimize, stats

Z = stats.norm.ppf(0.975)


def bca_of_mean(scores, denominator):
    """Exact BCa of the mean of one stratum: the distribution of a resampled sum is a convolution power."""
    points = np.rint(np.asarray(scores) * denominator).astype(int)
    n, observed = len(points), points.sum()
    one = np.bincount(points, minlength=denominator + 1) / n
    mass = np.array([1.0])
    for _ in range(n):
        mass = np.convolve(mass, one)
    cumulated = np.cumsum(mass)
    z0 = stats.norm.ppf(cumulated[observed] - mass[observed] / 2)
    central = points - points.mean()
    a = (central**3).sum() / (6 * (central**2).sum() ** 1.5)
    ends = []
    for z in (-Z, Z):
        level = stats.norm.cdf(z0 + (z0 + z) / (1 - a * (z0 + z)))
        ends.append(np.argmax(cumulated >= level * (1 - 1e-12)) / (n * denominator))
    return ends


def wilson(rate, n):
    scale, middle = 1 + Z * Z / n, rate + Z * Z / (2 * n)
    half = Z * math.sqrt(rate * (1 - rate) / n + Z * Z / (4 * n * n))
    return (middle - half) / scale, (middle + half) / scale


def mcnemar_power(difference, discordance, n, alpha=0.05):
    """Sum over both discordant counts of the trinomial."""
    up, down = (discordance + difference) / 2, (discordance - difference) / 2
    power = 0.0
    for m in range(1, n + 1):
        b = np.arange(m + 1)
        rejects = np.minimum(1, 2 * stats.binom.cdf(np.minimum(b, m - b), m, 0.5)) <= alpha
        power += stats.binom.pmf(m, n, discordance) * stats.binom.pmf(b, m, up / (up + down))[rejects].sum()
    return power


def beta(rate, share):
    strength = 1 / share - 1
    return stats.beta(rate * strength, (1 - rate) * strength)


def discordance(rate, difference, share, correlation):
    u = (np.arange(200000) + 0.5) / 200000
    both = (beta(rate, share).ppf(u) * beta(rate + difference, share).ppf(u)).mean()
    return 2 * rate + difference - 2 * (correlation * both + (1 - correlation) * rate * (rate + difference))


def sign_flip(differences):
    sizes = np.abs(differences[differences != 0])
    observed, total = abs(differences.sum()), sizes.sum()
    if observed == 0:
        return 1.0
    heads = np.array([1.0])
    for size in sizes:
        coin = np.zeros(size + 1)
        coin[0] = coin[size] = 0.5
        heads = np.convolve(heads, coin)
    return min(1.0, 2 * heads[(total + observed) // 2 :].sum())


def simulated_power(rate, difference, share, correlation, tasks, replicates, grids, alpha=0.05, seed=1):
    random = np.random.default_rng(seed)
    below, above = beta(rate, share), beta(rate + difference, share)
    u = random.random((grids, tasks))
    v = np.where(random.random((grids, tasks)) < correlation, u, random.random((grids, tasks)))
    d = random.binomial(replicates, above.ppf(v)) - random.binomial(replicates, below.ppf(u))
    return np.mean([sign_flip(row) <= alpha for row in d])


def one_against_several(several, one):
    """Interval and p of the mean of `several` checkpoints less that of one, tasks of one stratum."""
    count, n = several.shape
    of_checkpoint, of_task, mean = several.mean(1), several.mean(0), several.mean()
    scatter = of_checkpoint.var(ddof=1)
    interaction = ((several - of_checkpoint[:, None] - of_task[None] + mean) ** 2).sum() / ((count - 1) * (n - 1))
    d = of_task - one

    def half(level):
        t = lambda freedom: stats.t.ppf((1 + level) / 2, freedom) ** 2
        more = 1 + 1 / count
        return math.sqrt(
            max(0, more * (t(count - 1) * scatter - t((count - 1) * (n - 1)) * interaction / n))
            + t(n - 1) * d.var(ddof=1) / n
        )

    p = optimize.brentq(lambda p: half(1 - p) - abs(d.mean()), 1e-9, 1 - 1e-9, xtol=1e-14)
    return d.mean(), d.mean() - half(0.95), d.mean() + half(0.95), p


def main():
    weighed = [7 / 9] + [1] * 9 + [1, 0, 0, 0, 0] * 2
    print("unequal replicates: rate", np.mean(weighed), "bca", bca_of_mean(weighed, 9), "pooled", (7 + 81 + 2) / 100)
    print("few pass: rate", np.mean([7 / 9] + [0] * 19), "wilson", wilson(7 / 9 / 20, 20))
    print("flips: wilson of 0.5 in 240", wilson(0.5, 240), "of 1/80 in 240", wilson(1 / 80, 240))
    for n, difference in ((24, 0.3), (60, 0.2), (150, 0.1)):
        share = discordance(0.2, difference, 1 / 3, 0.5)
        print("K=1", n, difference, "discordance", share, "power", mcnemar_power(difference, share, n))
    for n, replicates, difference in ((24, 3, 0.2), (60, 3, 0.15), (60, 10, 0.1), (150, 3, 0.1)):
        print(
            "K", replicates, n, difference, "power", simulated_power(0.2, difference, 1 / 3, 0.5, n, replicates, 10000)
        )
    a = np.array([[(c * 5 + t * 3 + c * t) % 7 / 6 for t in range(8)] for c in range(3)])
    print("one checkpoint", one_against_several(a, np.array([0, 1, 1, 0, 1, 0, 0, 1])))
    print("chi-square bound of 1 with 22", 22 / stats.chi2.ppf(0.1, 22))


if __name__ == "__main__":
    main()
