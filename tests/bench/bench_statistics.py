"""Intervals and exact tests against scipy."""
import json
import subprocess

import numpy as np

from harness import BUILD, figure, median_seconds, report


def bench():
    """One cell's interval and all pairs of nine cells, against scipy's bootstrap of the same task scores."""
    from scipy import stats

    ours = json.loads(
        subprocess.run([BUILD / "tests/aggregate/nkigrid_bench_statistics"], check=True, capture_output=True).stdout
    )
    scores = np.array(ours["scores"])
    peer = median_seconds(
        lambda: stats.bootstrap((scores,), np.mean, n_resamples=9999, method="BCa", random_state=1), 5
    )
    drawn = stats.bootstrap((scores,), np.mean, n_resamples=9999, method="BCa", random_state=1).confidence_interval
    assert abs(drawn.low - ours["plain"][0]) < 0.01 and abs(drawn.high - ours["plain"][1]) < 0.01
    report(
        "interval of a cell, 150 tasks x 10",
        ours["plain_ms"] / 1e3,
        peer,
        "scipy.stats.bootstrap BCa 9999",
        "<= 0.002",
    )
    report(
        "the same, tasks within three levels", ours["cell_ms"] / 1e3, peer, "scipy.stats.bootstrap BCa 9999", "<= 0.002"
    )
    figure(f"{ours['pairs']} pairs of 9 cells x 150 x 10, exact, with Holm", f"{ours['pairs_ms']:.2f} ms", "<= 20 ms")
