"""Writes tests/data/device/verdict_cases.json: small tensors, and what torch and numpy say about them.

usage: /usr/bin/python3 tests/device/make_verdict_cases.py > tests/data/device/verdict_cases.json
"""
import json

import numpy as np
import torch

DTYPES = {"float32": np.float32, "int32": np.int32, "uint8": np.uint8}


def spell(array):
    """JSON has no NaN and no infinity: they are words. float32 is written as the double of the same value."""

    def one(v):
        v = float(v)
        return v if np.isfinite(v) else ("nan" if np.isnan(v) else "inf" if v > 0 else "-inf")

    return [one(v) for v in array.reshape(-1)]


def case(name, got, want, atol=1e-3, rtol=1e-3):
    g, w = torch.from_numpy(got), torch.from_numpy(want)
    close = torch.isclose(g, w, atol=atol, rtol=rtol, equal_nan=False)
    gd, wd = got.astype(np.float64), want.astype(np.float64)
    with np.errstate(invalid="ignore"):
        both = np.isfinite(gd) & np.isfinite(wd)
        agree = both | (gd == wd)
    result = {
        "name": name,
        "dtype": str(want.dtype),
        "shape": list(want.shape),
        "got": spell(got),
        "want": spell(want),
        "atol": atol,
        "rtol": rtol,
        "allclose": bool(torch.allclose(g, w, atol=atol, rtol=rtol)),
        "mismatches": int((~close).sum()),
        "first": int(torch.nonzero(~close.reshape(-1))[0]) if not bool(close.all()) else None,
        "non_finite": int((~np.isfinite(gd) & np.isfinite(wd)).sum()),
        "max_abs_err": float(np.abs(gd[both] - wd[both]).max())
        if agree.all() and both.any()
        else None
        if not agree.all()
        else 0.0,
        "rel_l2": float(np.linalg.norm(gd[both] - wd[both]) / np.linalg.norm(wd[both]))
        if agree.all() and np.linalg.norm(wd[both]) > 0
        else None,
    }
    return result


def main():
    rng = np.random.default_rng(11)
    x = rng.standard_normal((6, 5)).astype(np.float32)
    cases = [case("equal", x.copy(), x)]
    cases.append(case("noise_inside", x + rng.uniform(-5e-4, 5e-4, x.shape).astype(np.float32), x))
    for scale in (1e-3, 3e-3, 1.0):
        cases.append(case(f"noise_{scale}", x + rng.uniform(-scale, scale, x.shape).astype(np.float32), x))
    big = (x * 1e4).astype(np.float32)
    cases.append(case("relative_part", big * np.float32(1.0009), big))
    cases.append(case("relative_part_outside", big * np.float32(1.0012), big))
    cases.append(
        case(
            "tolerance_is_of_the_reference",
            np.array([1000.0, 1001.0], np.float32),
            np.array([1001.0011, 1000.0], np.float32),
            atol=0,
            rtol=1e-3,
        )
    )
    nan = x.copy()
    nan[2, 3] = np.nan
    cases += [case("nan_output", nan, x), case("nan_reference", x, nan), case("nan_both", nan, nan.copy())]
    inf = x.copy()
    inf[0, 0], inf[5, 4] = np.inf, -np.inf
    cases += [
        case("inf_both", inf, inf.copy()),
        case("inf_output", inf, x),
        case("inf_other_sign", inf, (-inf).astype(np.float32)),
    ]
    zero = np.zeros((3, 4), np.float32)
    cases += [case("zeros", zero, zero.copy()), case("only_reference_zero", zero + np.float32(5e-4), zero)]
    small = (x * 1e-4).astype(np.float32)
    cases.append(case("zeros_under_atol", np.zeros_like(small), small))
    i = rng.integers(-1000, 1000, (4, 7)).astype(np.int32)
    j = i.copy()
    j[1, 1] += 1
    cases += [case("int_equal", i.copy(), i), case("int_off_by_one", j, i)]
    u = rng.integers(0, 256, (9,)).astype(np.uint8)
    v = u.copy()
    v[8] ^= 1
    cases += [case("uint8_equal", u.copy(), u), case("uint8_last_differs", v, u)]
    large = np.array([2147483647, -2147483648], np.int32)
    cases.append(case("int_extremes", large, np.array([-2147483648, 2147483647], np.int32)))
    print(
        json.dumps(
            {
                "made_by": "tests/device/make_verdict_cases.py",
                "torch": torch.__version__,
                "numpy": np.__version__,
                "cases": cases,
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
