#!/usr/bin/python3
"""estimates.py TREE: the latency estimate against what was measured, on the original files; nothing is run.

NKIBench's kernels on Trn1 (latency and the profiler's counters), what agents wrote for the same tasks (traffic to HBM
and rank on a trn2), and the right candidates of autocomp's search, ranked."""

import argparse
import csv
import json
import math
import pathlib
import sys
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


COUNTERS = [f"{memory}_{way}_bytes" for memory in ("hbm", "sbuf", "psum") for way in ("read", "write")]


def measured(root):
    """{task: its profile}; latency in ms"""
    with open(root / "experiments/full_complete_local/profile_results.csv", newline="") as file:
        return {row["problem"]: json.loads(row["profile"]) for row in csv.DictReader(file)}


def program(kernel, arguments):
    """The bytes of a kernel's program for these arguments."""
    from neuronxcc.nki._trace.builder import Options
    from neuronxcc.nki._trace.jit import trace_call
    from neuronxcc.nki._trace.launch import describe

    arrays, _ = describe(arguments, {})
    return trace_call(kernel.func, arguments, {}, arrays, Options(legacy_outputs=True), kernel.grid).data


def deviation(ratios):
    """Geometric: exp of the root mean square of the logarithms."""
    return math.exp(math.sqrt(sum(math.log(r) ** 2 for r in ratios) / len(ratios)))


def rank_correlation(a, b):
    """Spearman's."""
    place = lambda values: [sorted(values).index(v) for v in values]  # noqa: E731
    x, y = place(a), place(b)
    n = len(x)
    return 1 - 6 * sum((p - q) ** 2 for p, q in zip(x, y)) / (n * (n * n - 1))


def bench(root):
    import nkibench
    from neuronxcc.nki._trace import engine

    known, ratios, shares = measured(root), [], []
    print("| kernel | measured us | estimate us | measured / estimate | HBM bytes, estimate / measured |", end="")
    print(" HBM read | written | SBUF read | written | PSUM read | written |\n" + "|---" * 11 + "|")
    for name, kernel_file, task_file in nkibench.kernels(root):
        kernel, arguments, _, _ = nkibench.prepare(kernel_file, task_file)
        traced = program(kernel, arguments)
        estimate, microseconds = engine.estimate_us(traced), 1e3 * known[name]["latency"]
        here = [engine.counter(traced, counter) for counter in COUNTERS]
        there = [known[name].get(counter, 0) for counter in COUNTERS]
        ratios.append(microseconds / estimate)
        shares.append([sum(here[:2]) / sum(there[:2])] + [share(a, b) for a, b in zip(here, there)])
        row = [f"{microseconds:.0f}", f"{estimate:.0f}"] + [f"{r:.2f}" for r in [ratios[-1], *shares[-1]]]
        print(f"| {name} | " + " | ".join(row) + " |", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(
        f"\ngeometric mean {mean:.2f}, deviation {deviation(ratios):.2f}x, within 2x: "
        f"{sum(0.5 <= r <= 2 for r in ratios)} of {len(ratios)}; within 10 %: "
        + ", ".join(f"{what} {sum(map(near, each))}" for what, each in zip(["HBM", *COUNTERS], zip(*shares)))
    )
    left_out = [r / math.exp((sum(map(math.log, ratios)) - math.log(r)) / (len(ratios) - 1)) for r in ratios]
    print(
        f"scaled by the mean of the others: deviation {deviation(left_out):.2f}x, "
        f"worst {max(max(r, 1 / r) for r in left_out):.2f}x"
    )


def share(here, there):
    return here / there if there else 1.0 if not here else math.inf


def near(ratio):
    return 0.9 <= ratio <= 1.1


def agents(root, nkibench_root):
    """Kernels by agents, profiled on a trn2: a later compiler and another chip; no rule was made from their bytes."""
    import nkibench
    from case import load
    from neuronxcc.nki._trace import engine

    tasks = {name: files for name, *files in nkibench.kernels(nkibench_root)}
    print(
        "\n| task | kernels | HBM bytes within 10 % | least, most of estimate / measured | rank correlation |", end=""
    )
    print(" pairs 1.5x apart in their order |\n" + "|---" * 6 + "|")
    for log in sorted(root.glob("workspaces/*/candidates.jsonl")):
        moved, times = [], []
        arguments = nkibench.prepare(*tasks[log.parent.name])[1]
        for file, record in profiled(log):
            try:
                traced = program(load(file).kernel, arguments)
            except Exception:  # told by `run`
                continue
            metrics = record["metrics"]
            here = sum(engine.counter(traced, counter) for counter in COUNTERS[:2])
            moved.append(here / 1e6 / (metrics["HBMrd_MB"] + metrics["HBMwr_MB"]))
            if record.get("latency_ms"):
                times.append((record["latency_ms"], engine.estimate_us(traced)))
        rank = f"{rank_correlation(*zip(*times)):.2f} of {len(times)}" if len(times) > 2 else "-"
        right, pairs = ordered(times)
        print(
            f"| {log.parent.name} | {len(moved)} | {sum(map(near, moved))} | {min(moved):.2f}, {max(moved):.2f} | "
            f"{rank} | {right} of {pairs} |",
            flush=True,
        )


def ordered(times, apart=1.5):
    """(pairs that the estimates order as the measured times do, pairs), of those that are measured so far apart"""
    pairs = [(a, b) for a in times for b in times if b[0] >= apart * a[0]]
    return sum(a[1] < b[1] for a, b in pairs), len(pairs)


def profiled(log):
    """(file of a kernel, its first record that has the traffic to HBM)"""
    seen = set()
    for record in map(json.loads, filter(str.strip, log.read_text().splitlines())):
        file = log.parent / (record.get("candidate") or "").split(" ")[0]
        if file.is_file() and file not in seen and "HBMrd_MB" in (record.get("metrics") or {}):
            seen.add(file)
            yield file, record


def search(root):
    import traces
    from neuronxcc.nki._trace import engine

    found = []
    for _, source, latency in traces.candidates(root):
        if latency is not None:
            try:
                found.append((latency, engine.estimate_us(program(traces.kernel_of(source), traces.arguments()))))
            except Exception:  # told by `run`
                pass
    there, here = zip(*found)
    print(
        f"\nsearch traces, {len(found)} candidates of one task: rank correlation {rank_correlation(there, here):.2f}, "
        f"measured / estimate {min(t / h for t, h in found):.2f} to {max(t / h for t, h in found):.2f}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=pathlib.Path)
    parser.add_argument("--nkisim", type=pathlib.Path, default=HERE.parents[1] / "build/nkisim")
    options = parser.parse_args()
    sys.path.insert(0, str(options.nkisim))
    warnings.simplefilter("ignore")
    bench(options.tree / "AccelOpt")
    if (options.tree / "kda-for-trainium").is_dir():
        agents(options.tree / "kda-for-trainium", options.tree / "AccelOpt")
    search(options.tree / "autocomp")


if __name__ == "__main__":
    main()
