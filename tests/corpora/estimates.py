#!/usr/bin/python3
"""estimates.py TREE: the latency estimate against what was measured, on the original files; nothing is run.

NKIBench's kernels on Trn1 (latency and traffic to HBM), and the right candidates of autocomp's search, ranked."""

import argparse
import csv
import json
import math
import pathlib
import sys
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def measured(root):
    """{task: (latency [us], bytes read and written to HBM, bytes spilled)}"""
    with open(root / "experiments/full_complete_local/profile_results.csv", newline="") as file:
        rows = [(row["problem"], json.loads(row["profile"])) for row in csv.DictReader(file)]
    return {
        name: (
            1e3 * p["latency"],
            p["hbm_read_bytes"] + p["hbm_write_bytes"],
            p["spill_reload_bytes"] + p["spill_save_bytes"],
        )
        for name, p in rows
    }


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

    known, ratios = measured(root), []
    print("| kernel | measured us | estimate us | measured / estimate | HBM bytes, estimate / measured |")
    print("|---|---|---|---|---|")
    near = 0
    for name, kernel_file, task_file in nkibench.kernels(root):
        kernel, arguments, _, _ = nkibench.prepare(kernel_file, task_file)
        traced = program(kernel, arguments)
        estimate, moved = engine.estimate_us(traced), engine.hbm_bytes(traced) / known[name][1]
        ratios.append(known[name][0] / estimate)
        near += 0.9 <= moved <= 1.1
        print(f"| {name} | {known[name][0]:.0f} | {estimate:.0f} | {ratios[-1]:.2f} | {moved:.2f} |", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(
        f"\ngeometric mean {mean:.2f}, deviation {deviation(ratios):.2f}x, within 2x: "
        f"{sum(0.5 <= r <= 2 for r in ratios)} of {len(ratios)}; bytes within 10 %: {near}"
    )
    left_out = [r / math.exp((sum(map(math.log, ratios)) - math.log(r)) / (len(ratios) - 1)) for r in ratios]
    print(
        f"scaled by the mean of the others: deviation {deviation(left_out):.2f}x, "
        f"worst {max(max(r, 1 / r) for r in left_out):.2f}x"
    )


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
    search(options.tree / "autocomp")


if __name__ == "__main__":
    main()
