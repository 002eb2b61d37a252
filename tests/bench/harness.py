"""What every benchmark needs: medians, and the rows of the table they print together."""
import pathlib
import statistics
import sys
import time

BUILD = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
rows = []  # (what, ours, peer, ratio, target), texts


def median_seconds(work, repeats=9):
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def interleaved(ours, peer, repeats=9):
    """Medians of both in seconds of CPU, run by turns in one thread: others on the machine fall on neither."""
    ours(), peer()
    times = ([], [])
    for _ in range(repeats):
        for work, into in zip((ours, peer), times):
            start = time.process_time()
            work()
            into.append(time.process_time() - start)
    return tuple(map(statistics.median, times))


def report(what, ours, peer, peer_name, target):
    """A ratio against a peer of the same run. ours and peer in seconds."""
    rows.append((what, f"{ours * 1e3:.2f} ms", f"{peer_name} {peer * 1e3:.2f} ms", f"{ours / peer:.3g}", target))


def figure(what, ours, target):
    """A figure that has no peer. ours: text with its unit."""
    rows.append((what, ours, "-", "-", target))
