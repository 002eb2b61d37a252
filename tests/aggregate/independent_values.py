#!/usr/bin/python3
"""Prints the values that task_weights_test, pair_power_test, power_plan_test, checkpoints_test hold us against: numpy
and scipy only, nothing of nkigrid. Run it by hand: /usr/bin/python3 tests/aggregate/independent_values.py"""
import math

import numpy as np
from scipy import optimize, stats

Z = stats.norm.ppf(0.975)


def scatter(levels, least=5):
    """Estimated variance of the sum, within levels; small ones taken together with the next."""
    groups = []
    for level in levels:
        if groups and len(groups[-1]) < least:
            groups[-1] = np.concatenate([groups[-1], level])
        else:
            groups.append(np.asarray(level, float))
    if len(groups) > 1 and len(groups[-1]) < least:
        last = groups.pop()
        groups[-1] = np.concatenate([groups[-1], last])
    return sum(len(g) * np.var(g, ddof=1) for g in groups if len(g) > 1)


def wilson_effective(levels):
    scores = np.concatenate(levels)
    n, rate = len(scores), scores.mean()
    return wilson(rate, n * (n * n / (n - 1) * rate * (1 - rate) + 0.5) / (scatter(levels) + 0.5))


def bonett_price(levels):
    d = np.concatenate(levels)
    size = ((d**2).sum() + 1) / (np.abs(d).sum() + 1)
    half = Z * math.sqrt(scatter(levels) + 2 * size**2)
    return (d.sum() - half) / (len(d) + 2), (d.sum() + half) / (len(d) + 2)


def paper_bonett_price(b, c, n):
    """As the paper has it, of one run of each task: proportions with one more of either kind."""
    p, q = (b + 1) / (n + 2), (c + 1) / (n + 2)
    half = Z * math.sqrt((p + q - (p - q) ** 2) / (n + 2))
    return p - q - half, p - q + half


def wilson(rate, n):
    scale, middle = 1 + Z * Z / n, rate + Z * Z / (2 * n)
    half = Z * math.sqrt(rate * (1 - rate) / n + Z * Z / (4 * n * n))
    return (middle - half) / scale, (middle + half) / scale


def mcnemar_power(difference, discordance, n, alpha=0.05):
    """Sum over both discordant counts of the trinomial; the test's mid-p."""
    up, down = (discordance + difference) / 2, (discordance - difference) / 2
    power = 0.0
    for m in range(1, n + 1):
        b = np.arange(m + 1)
        fewer = np.minimum(b, m - b)
        rejects = 2 * stats.binom.cdf(fewer, m, 0.5) - stats.binom.pmf(fewer, m, 0.5) <= alpha
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
    reached = (total + observed) // 2
    return min(1.0, 2 * heads[reached + 1 :].sum() + heads[reached])


def simulated_power(rate, difference, share, correlation, tasks, replicates, grids, alpha=0.05, seed=1):
    random = np.random.default_rng(seed)
    below, above = beta(rate, share), beta(rate + difference, share)
    u = random.random((grids, tasks))
    v = np.where(random.random((grids, tasks)) < correlation, u, random.random((grids, tasks)))
    d = random.binomial(replicates, above.ppf(v)) - random.binomial(replicates, below.ppf(u))
    return np.mean([sign_flip(row) <= alpha for row in d])


def checkpoint_interval(methods):
    """Mean of one method's checkpoints (scores: checkpoints x tasks), or the difference of two; one stratum."""
    d = methods[0].mean(0) - (methods[1].mean(0) if len(methods) == 2 else 0)
    n, share, freedom, scatter_sum, rest_sum = len(d), sum(1 / len(x) for x in methods), 0, 0.0, 0.0
    for x in methods:
        rest = x - x.mean(1, keepdims=True) - x.mean(0) + x.mean()
        freedom += len(x) - 1
        scatter_sum += ((x.mean(1) - x.mean()) ** 2).sum()
        rest_sum += (rest**2).sum() / (n - 1)

    def half(level):
        t = lambda freedom: stats.t.ppf((1 + level) / 2, freedom) ** 2
        excess = t(freedom) * scatter_sum / freedom - t(freedom * (n - 1)) * rest_sum / freedom / n
        return math.sqrt(max(0, share * excess) + t(n - 1) * d.var(ddof=1) / n)

    p = optimize.brentq(lambda p: half(1 - p) - abs(d.mean()), 1e-9, 1 - 1e-9, xtol=1e-14)
    return d.mean(), d.mean() - half(0.95), d.mean() + half(0.95), p


def main():
    weighed = [7 / 9] + [1] * 9 + [1, 0, 0, 0, 0] * 2
    print("unequal replicates: rate", np.mean(weighed), wilson_effective([weighed]), "pooled", (7 + 81 + 2) / 100)
    print("few pass: rate", 7 / 9 / 20, wilson_effective([[7 / 9] + [0] * 19]))
    ks = [i % 4 / 3 for i in range(12)]
    print("two levels", wilson_effective([ks, [1] + [0] * 7]), "one", wilson_effective([ks]))
    print("small levels", wilson_effective([[1, 0], [1 / 3], [1, 1, 2 / 3], [0, 0, 0, 1 / 3, 0], [0]]))
    print("K = 1, three levels", wilson_effective([[1] * 40 + [0] * 10, [1] * 9 + [0] * 41, [1] * 1 + [0] * 49]))
    i = np.arange(60)
    cells = [(i * i + 3 * i) % 4 > 0, i % 5 == 0, i % 3 == 0, i % 7 == 0]
    d = cells[0] * 1 - cells[1] - cells[2] + cells[3]
    print("interaction", d.mean(), bonett_price([d]), "mid-p", sign_flip(d))
    for b, c, n in ((12, 1, 40), (5, 0, 50), (6, 0, 50), (0, 0, 50), (4, 0, 50)):
        d = np.array([1] * b + [-1] * c + [0] * (n - b - c))
        print("pair", b, c, n, bonett_price([d]), paper_bonett_price(b, c, n), "mid-p", sign_flip(d))
    thirds = [np.array([(j * 7) % 5 - 2 for j in range(11)]) / 3, np.array([(j * j) % 4 - 1 for j in range(9)]) / 3]
    print(
        "thirds in two levels",
        bonett_price(thirds),
        "mid-p",
        sign_flip(np.rint(np.concatenate(thirds) * 3).astype(int)),
    )
    print("flips: wilson of 0.5 in 240", wilson(0.5, 240), "of 1/80 in 240", wilson(1 / 80, 240))
    for n, difference in ((24, 0.3), (60, 0.2), (150, 0.1)):
        share = discordance(0.2, difference, 1 / 3, 0.5)
        print("K=1", n, difference, "discordance", share, "power", mcnemar_power(difference, share, n))
    for n, replicates, difference in ((24, 3, 0.2), (60, 3, 0.15), (60, 10, 0.1), (150, 3, 0.1)):
        print(
            "K", replicates, n, difference, "power", simulated_power(0.2, difference, 1 / 3, 0.5, n, replicates, 4000)
        )
    a = np.array([[(c * 5 + t * 3 + c * t) % 7 / 6 for t in range(8)] for c in range(3)])
    b = np.array([[(c * 2 + t * 5 + 3) % 6 / 5 for t in range(8)] for c in range(2)])
    print("checkpoints: mean", checkpoint_interval([a])[:3])
    print("checkpoints: difference", checkpoint_interval([a, b]))
    print("one checkpoint", checkpoint_interval([a, np.array([[0, 1, 1, 0, 1, 0, 0, 1.0]])]))
    print("chi-square bound of 1 with 22", 22 / stats.chi2.ppf(0.1, 22))


if __name__ == "__main__":
    main()
