#!/usr/bin/python3 -B
"""How often does McNemar's test reject where nothing differs? Exact, by sums over binomials: the number of tasks that
differ is binomial, and given it the first cell wins each of them with chance 1/2. Prints the table of
docs/decisions/intervals.md: the largest type I error over all shares of differing tasks, and that at a few of them."""
import numpy as np
from scipy import stats


def rejected(m, alpha, mid):
    """Chance that the test of m differing tasks reaches alpha, both sides."""
    b = np.arange(m + 1)
    fewer = np.minimum(b, m - b)
    p = 2 * stats.binom.cdf(fewer, m, 0.5) - (stats.binom.pmf(fewer, m, 0.5) if mid else 0)
    p[2 * b == m] = 1
    return stats.binom.pmf(b[p <= alpha * (1 + 1e-12)], m, 0.5).sum()


def sizes(n, alpha, mid, shares):
    by_count = np.array([rejected(m, alpha, mid) if m else 0.0 for m in range(n + 1)])
    return np.array([stats.binom.pmf(np.arange(n + 1), n, share) @ by_count for share in shares])


def main():
    shares = np.linspace(0.002, 1, 500)
    marks = (0.05, 0.1, 0.2, 0.4)
    print("| tasks | alpha | mid-p: most | at " + " | at ".join(f"{100 * m:g} %" for m in marks), end=" | ")
    print("exact: most | at " + " | at ".join(f"{100 * m:g} %" for m in marks) + " |")
    print("|" + "---|" * (4 + 2 * len(marks)))
    for n in (24, 60, 150, 250, 600):
        for alpha in (0.05, 0.01):
            words = [str(n), f"{alpha:g}"]
            for mid in (True, False):
                words.append(f"{sizes(n, alpha, mid, shares).max():.4f}")
                words += [f"{size:.4f}" for size in sizes(n, alpha, mid, marks)]
            print("| " + " | ".join(words) + " |", flush=True)


if __name__ == "__main__":
    main()
