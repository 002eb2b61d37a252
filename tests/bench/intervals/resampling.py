"""Percentile and BCa ends of means over tasks, exact: the distribution of a resampled sum by its characteristic
function, many rounds at once."""
import numpy as np
from scipy import special

Z = special.ndtri(0.975)


def _power(base, exponent):
    result = None
    while exponent:
        if exponent & 1:
            result = base.copy() if result is None else result * base
        base = base * base
        exponent >>= 1
    return result


def resampled_masses(values, strata):
    """Masses[round, point] of the sum less its observed value, on a circle; point N/2 is a difference of 0."""
    low = int(values.min())
    shifted = values - low
    count = int(shifted.max()) + 1
    squares = sum(values[:, s].var(axis=1) * (s.stop - s.start) for s in strata)
    size = 1 << int(np.ceil(np.log2(22 * np.sqrt(squares.max()) + 4)))
    k = np.arange(size // 2 + 1)
    waves = np.exp(-2j * np.pi * np.outer(np.arange(count), k) / size)
    total = np.ones((len(values), len(k)), complex)
    for stratum in strata:
        part = shifted[:, stratum]
        n = part.shape[1]
        histogram = np.stack([(part == v).sum(axis=1) for v in range(count)], axis=1) / n
        total *= _power(histogram @ waves, n)
    total *= np.exp(2j * np.pi * np.outer((shifted.sum(axis=1) - size // 2) % size, k) / size)
    return np.fft.irfft(total, size, axis=1)


def _quantiles(cumulated, at):
    return np.array([np.searchsorted(row, p - 1e-12) for row, p in zip(cumulated, at)])


def bootstrap_ends(values, strata, unit):
    """(percentile, BCa) ends of the mean; unit: lattice points a task and pass rate of 1."""
    masses = resampled_masses(values, strata)
    half = masses.shape[1] // 2
    cumulated = np.cumsum(masses, axis=1)
    observed, n = values.sum(axis=1), values.shape[1]
    central = np.concatenate([values[:, s] - values[:, s].mean(axis=1, keepdims=True) for s in strata], axis=1)
    squares = (central**2).sum(axis=1)
    a = np.divide((central**3).sum(axis=1), 6 * squares**1.5, out=np.zeros(len(values)), where=squares > 0)
    z0 = special.ndtri(np.clip(cumulated[:, half] - masses[:, half] / 2, 1e-12, 1 - 1e-12))
    ends = []
    for shift, skew in ((0 * z0, 0 * a), (z0, a)):
        two = []
        for z in (-Z, Z):
            level = special.ndtr(shift + (shift + z) / (1 - skew * (shift + z)))
            two.append((observed + _quantiles(cumulated, level) - half) / (n * unit))
        ends.append(two)
    return ends


def sign_flip_mid_p(values):
    """Two-sided mid-p of the sign-flip test: 2 P(S > |s|) + P(S = |s|), S the sum with fair signs; exact."""
    sizes, observed = np.abs(values), np.abs(values.sum(axis=1))
    reach = 11 * np.sqrt((sizes**2).sum(axis=1).max()) + observed.max() + 4
    size = 1 << int(np.ceil(np.log2(2 * reach)))
    w = 2 * np.pi * np.arange(size // 2 + 1) / size
    total = np.ones((len(values), len(w)))
    for v in range(1, int(sizes.max()) + 1):
        total *= np.cos(w * v) ** (sizes == v).sum(axis=1)[:, None]
    masses = np.fft.irfft(total, size, axis=1)[:, : size // 2]  # of S = 0, 1, ...; the circle's half is beyond reach
    tails = masses[:, ::-1].cumsum(axis=1)[:, ::-1]
    at = np.arange(len(values))
    return np.where(observed == 0, 1, 2 * tails[at, observed] - masses[at, observed])
