#!/usr/bin/python3 -B
"""Which interval rule covers? Coverage and mean width of the candidates of docs/decisions/intervals.md, over designs
of tasks with Beta chances within levels. numpy and scipy only, nothing of nkigrid. One process, some minutes:

    OPENBLAS_NUM_THREADS=1 nice tests/bench/intervals/bakeoff.py [cells|pairs|interactions|methods]...

Every design is drawn 1,000 times (standard error 0.007, so the least of hundreds of coverages lies below the truth);
those where the rule that is printed does worst are drawn 20,000 times anew."""
import sys
import time

import numpy as np

import checkpoints
from designs import Design, draw_cells
from rules import combination_candidates, rate_candidates

ROUNDS, AGAIN, WORST, WANTED = 1000, 20000, 5, 0.93
EFFECTS, SIGNS = {"pairs": 2, "interactions": 4}, {"pairs": [1, -1], "interactions": [1, -1, -1, 1]}


def cell_designs():
    return [
        Design(n, k, p, icc, spread)
        for n in (60, 90, 120, 150)
        for k in (1, 2, 3, 5, 10)
        for i, p in enumerate((0.02, 0.04, 0.08, 0.15, 0.3, 0.5, 0.7, 0.85, 0.92, 0.98))
        for j, icc in enumerate((0.1, 0.25, 0.5, 0.7))
        for spread in (0, 1.5)
        if (i + j + n // 30) % 2 == 0 and (k > 1 or j < 2)
    ]


def combination_designs(replicates, tasks):
    return [
        Design(n, k, p, icc, spread, 3, effect)
        for n in tasks
        for k in replicates
        for i, p in enumerate((0.02, 0.06, 0.15, 0.3, 0.5, 0.8, 0.95))
        for j, icc in enumerate((0.1, 0.25, 0.5, 0.7))
        for spread in (0, 1.5)
        for effect in (0, 0.7)
        if (i + j + n // 30 + (spread > 0) + (effect > 0)) % 2 == 0 and (k > 1 or j < 2)
    ]


def measure(kind, design, rounds, random):
    """{candidate: (coverage, mean width)}"""
    cells, truths = draw_cells(design, [design.effect] + [0.0] * (EFFECTS.get(kind, 1) - 1), rounds, random)
    scores = [cell / design.replicates for cell in cells]
    if kind == "cells":
        found, truth = rate_candidates(scores[0], design.replicates, design.strata()), truths[0]
    else:
        found = combination_candidates(scores, SIGNS[kind], design.replicates, design.strata())
        truth = float(np.dot(truths, SIGNS[kind]))
    return {
        name: (np.mean((low <= truth + 1e-12) & (truth - 1e-12 <= high)), np.mean(np.asarray(high) - np.asarray(low)))
        for name, (low, high) in found.items()
    }


def print_table(title, rows):
    print(
        f"\n{title}: {len(rows)} designs\n\n| rule | min | mean | below {WANTED} | mean width |\n|---|---|---|---|---|"
    )
    for name in dict.fromkeys(name for row in rows for name in row):
        coverage, width = np.array([row[name] for row in rows if name in row]).T
        below = f"{(coverage < WANTED).sum()} of {len(coverage)}"
        print(
            f"| {name} | {coverage.min():.3f} | {coverage.mean():.3f} | {below} | {100 * width.mean():.2f} |",
            flush=True,
        )


def print_by_replicates(kind, designs, random):
    rows = [measure(kind, design, ROUNDS, random) for design in designs]
    for one in (True, False):
        part = [row for design, row in zip(designs, rows) if (design.replicates == 1) == one]
        print_table(f"{kind}, {'K = 1' if one else 'K > 1'}", part)
    printed = next(name for name in rows[0] if name.startswith("after"))
    worst = sorted(range(len(rows)), key=lambda i: rows[i][printed][0])[:WORST]
    again = [
        np.mean([measure(kind, designs[i], ROUNDS, random)[printed][0] for _ in range(AGAIN // ROUNDS)]) for i in worst
    ]
    print(f"\n{printed}: its {WORST} worst, drawn {AGAIN} times: " + ", ".join(f"{coverage:.4f}" for coverage in again))


def main(wanted):
    random, start = np.random.default_rng(20261130), time.process_time()
    if "cells" in wanted:
        print_by_replicates("cells", cell_designs(), random)
    if "pairs" in wanted:
        print_by_replicates("pairs", combination_designs((1, 2, 3, 5, 10), (60, 90, 150)), random)
    if "interactions" in wanted:
        print_by_replicates("interactions", combination_designs((1, 3, 10), (60, 150)), random)
    for difference in (False, True) if "methods" in wanted else ():
        rows = [checkpoints.measure(*design, 3 * ROUNDS, random) for design in checkpoints.designs(difference)]
        print_table("two methods" if difference else "a method's mean", rows)
    print(f"\n{time.process_time() - start:.0f} s of CPU")


if __name__ == "__main__":
    main(sys.argv[1:] or ["cells", "pairs", "interactions", "methods"])
