"""The candidates: vectorised over rounds, written from their formulas alone."""
import numpy as np
from scipy import special

from resampling import Z, bootstrap_ends, sign_flip_mid_p

FEW = 5


def t_quantile(freedom):
    return special.stdtrit(np.maximum(freedom, 1.0), 0.975)


def spread(values, strata):
    """Sum of squares about the level's mean, with the small-sample factor; variance of each level's sum; n."""
    sums = []
    for stratum in strata:
        n = stratum.stop - stratum.start
        sums.append(values[:, stratum].var(axis=1) * n * (n / (n - 1) if n > 1 else 0))
    return np.array(sums)


def satterthwaite(parts, strata):
    freedom = np.array([max(s.stop - s.start - 1, 1) for s in strata])[:, None]
    total, squares = parts.sum(axis=0), (parts**2 / freedom).sum(axis=0)
    return np.divide(total**2, squares, out=np.full(len(total), float(freedom.sum())), where=squares > 0)


def wilson(rate, n, z=Z):
    scale, middle = 1 + z * z / n, rate + z * z / (2 * n)
    half = z * np.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return (middle - half) / scale, (middle + half) / scale


# ---- rates


def rate_wilson(x, k, strata):
    return wilson(x.mean(axis=1), x.shape[1])


def rate_t(x, k, strata):
    n, parts = x.shape[1], spread(x, strata)
    half = t_quantile(satterthwaite(parts, strata)) * np.sqrt(parts.sum(axis=0)) / n
    return x.mean(axis=1) - half, x.mean(axis=1) + half


def rate_pseudo_t(x, k, strata):
    """Two pseudo-tasks, one that passes and one that fails."""
    n, parts = x.shape[1], spread(x, strata)
    rate = (x.sum(axis=1) + 1) / (n + 2)
    half = t_quantile(satterthwaite(parts, strata)) * np.sqrt(parts.sum(axis=0) + 0.5) / (n + 2)
    return rate - half, rate + half


def effective(x, strata, pseudo):
    """Tasks over the design effect; the effect shrunk to 1 by so many pseudo-tasks' variance."""
    n, rate = x.shape[1], x.mean(axis=1)
    within, whole = spread(x, strata).sum(axis=0), rate * (1 - rate) * n * n / (n - 1)
    return n * (whole + pseudo) / (within + pseudo)


def rate_effective(pseudo, student=False):
    def rule(x, k, strata):
        z = t_quantile(satterthwaite(spread(x, strata), strata)) if student else Z
        return wilson(x.mean(axis=1), effective(x, strata, pseudo), z)

    return rule


def rate_beta_binomial(x, k, strata):
    """Wilson with n K/(1 + (K - 1) rho), rho from the levels' moments."""
    n, rate = x.shape[1], x.mean(axis=1)
    if k == 1:
        return rate_effective(1)(x, k, strata)
    noise = (x * (1 - x)).sum(axis=1) * k / (k - 1)  # n times sigma^2
    total = spread(x, strata).sum(axis=0) + noise * (1 - 1 / k)  # n times one episode's variance
    rho = np.clip(1 - np.divide(noise, total, out=np.zeros(len(x)), where=total > 0), 0, 1)
    whole = rate * (1 - rate) * n
    return wilson(rate, n * (whole + 1) / (total * (1 + (k - 1) * rho) / k + 1))


def rate_today(x, k, strata, bca):
    low, high = wilson(x.mean(axis=1), x.shape[1])
    few = ((x > 0).sum(axis=1) <= FEW) | ((x < 1).sum(axis=1) <= FEW) | (bca[0] >= bca[1])
    return (low, high) if k == 1 else (np.where(few, low, bca[0]), np.where(few, high, bca[1]))


def rate_printed(x, k, strata):
    """Two pseudo-tasks in the design effect, and never narrower than what replicates alone leave open."""
    low, high = rate_effective(0.5)(x, k, strata)
    if k == 1:
        return low, high
    n, rate, noise = x.shape[1], x.mean(axis=1), (x * (1 - x)).mean(axis=1) * k / (k - 1)
    half = Z * np.sqrt(noise / (k * n))
    few = ((x > 0) & (x < 1)).sum(axis=1) <= FEW
    bound = wilson(rate, n * k)
    return (
        np.minimum(low, np.where(few, bound[0], np.maximum(0, rate - half))),
        np.maximum(high, np.where(few, bound[1], np.minimum(1, rate + half))),
    )


def rate_candidates(x, k, strata):
    percentile, bca = bootstrap_ends(np.rint(x * k).astype(int), strata, k)
    return {
        "before: Wilson, BCa": rate_today(x, k, strata, bca),
        "Wilson, n = tasks": rate_wilson(x, k, strata),
        "percentile": percentile,
        "BCa": bca,
        "stratified t": rate_t(x, k, strata),
        "stratified t, 2 pseudo-tasks": rate_pseudo_t(x, k, strata),
        "beta-binomial": rate_beta_binomial(x, k, strata),
        "Wilson, effective n, 1/4": rate_effective(0.25)(x, k, strata),
        "Wilson, effective n, 1/2": rate_effective(0.5)(x, k, strata),
        "Wilson, effective n, 1": rate_effective(1)(x, k, strata),
        "Wilson, effective n, 1/2, t": rate_effective(0.5, True)(x, k, strata),
        "after: 1/2, holds run to run": rate_printed(x, k, strata),
    }


# ---- differences and other combinations: d per task


def combination_t(d, strata):
    n, parts = d.shape[1], spread(d, strata)
    half = t_quantile(satterthwaite(parts, strata)) * np.sqrt(parts.sum(axis=0)) / n
    return d.mean(axis=1) - half, d.mean(axis=1) + half


def typical(d, pseudo=1.0):
    return ((d**2).sum(axis=1) + pseudo) / (np.abs(d).sum(axis=1) + pseudo)


def combination_pseudo(d, strata, size=None, student=True, count=2.0):
    """Two pseudo-tasks of +-size: at K = 1, size 1 and z, Bonett & Price."""
    n, parts = d.shape[1], spread(d, strata)
    size = typical(d) if size is None else size
    total = n + count
    middle = d.sum(axis=1) / total
    squares = parts.sum(axis=0) + count * size**2
    z = t_quantile(satterthwaite(parts, strata)) if student else Z
    half = z * np.sqrt(squares) / total
    return middle - half, middle + half


def agreeing(ends, d, k, strata):
    """The same with 0 inside where the sign-flip test's mid-p is above 0.05, and outside where it is not."""
    low, high = ends
    separates = sign_flip_mid_p(np.rint(d * k).astype(int)) <= 0.05
    above = d.sum(axis=1) > 0
    return (
        np.where(separates & above, np.maximum(low, 1e-6), np.where(separates, low, np.minimum(low, 0))),
        np.where(separates & ~above, np.minimum(high, -1e-6), np.where(separates, high, np.maximum(high, 0))),
    )


def discordant(d):
    return (d > 0).sum(axis=1), (d < 0).sum(axis=1)


def pair_tango(d):
    """Tango 1998, score interval, by bisection over the difference."""
    n = d.shape[1]
    b, c = discordant(d)

    def score(delta):
        big = 2 * n
        first = -b - c + (2 * n - b + c) * delta
        last = -c * delta * (1 - delta)
        q = (np.sqrt(np.maximum(first**2 - 4 * big * last, 0)) - first) / (2 * big)
        variance = n * (2 * q + delta * (1 - delta))
        return (b - c - n * delta) / np.sqrt(np.maximum(variance, 1e-300))

    ends = []
    for sign in (1, -1):
        inner, outer = (b - c) / n, np.full(len(b), -sign * 1.0)
        for _ in range(40):
            middle = (inner + outer) / 2
            beyond = sign * score(middle) > Z
            inner, outer = np.where(beyond, inner, middle), np.where(beyond, middle, outer)
        ends.append(inner)
    return ends


def pair_newcombe(a, b):
    """Newcombe 1998, 17:2635, method 10: square-and-add with the correlation of the pairs."""
    n = a.shape[1]
    p, q = a.mean(axis=1), b.mean(axis=1)
    both = ((a > 0) & (b > 0)).sum(axis=1)
    only_a, only_b = ((a > 0) & (b == 0)).sum(axis=1), ((a == 0) & (b > 0)).sum(axis=1)
    neither = n - both - only_a - only_b
    margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    cross = both * neither - only_a * only_b
    cross = np.where(cross > n / 2, cross - n / 2, np.where(cross >= 0, 0, cross))
    phi = np.divide(cross, np.sqrt(margins), out=np.zeros(len(p)), where=margins > 0)
    la, ua = wilson(p, n)
    lb, ub = wilson(q, n)
    below = np.sqrt((p - la) ** 2 - 2 * phi * (p - la) * (ub - q) + (ub - q) ** 2)
    above = np.sqrt((ua - p) ** 2 - 2 * phi * (ua - p) * (q - lb) + (q - lb) ** 2)
    return p - q - below, p - q + above


def square_and_add(cells, signs):
    value = low = high = 0
    for x, sign in zip(cells, signs):
        rate = x.mean(axis=1)
        down, up = wilson(rate, x.shape[1])
        if sign < 0:
            down, up = 2 * rate - up, 2 * rate - down
        value, low, high = value + sign * rate, low + (rate - down) ** 2, high + (up - rate) ** 2
    return value - np.sqrt(low), value + np.sqrt(high)


def combination_candidates(cells, signs, k, strata):
    d = sum(sign * x for sign, x in zip(signs, cells))
    percentile, bca = bootstrap_ends(np.rint(d * k).astype(int), strata, k)
    low, high = square_and_add(cells, signs)
    few = ((d != 0).sum(axis=1) <= FEW) | (bca[0] >= bca[1])
    smallest = min(s.stop - s.start for s in strata)
    factor, mean = np.sqrt(smallest / (smallest - 1)), d.mean(axis=1)
    bonett_price = combination_pseudo(d, strata, None, False)
    found = {
        "before: BCa, square-and-add": (np.where(few, low, bca[0]), np.where(few, high, bca[1])),
        "percentile": percentile,
        "percentile, factor": [mean + factor * (end - mean) for end in percentile],
        "stratified t": combination_t(d, strata),
        "z, 1 pseudo-task": combination_pseudo(d, strata, None, False, 1.0),
        "t, 2 pseudo-tasks": combination_pseudo(d, strata),
        "z, 2 pseudo-tasks (Bonett-Price)": bonett_price,
        "after: the same, agrees with the test": agreeing(bonett_price, d, k, strata),
    }
    if k == 1 and len(cells) == 2:
        found["Tango"] = pair_tango(d)
        found["Newcombe paired"] = pair_newcombe(*cells)
    return found
