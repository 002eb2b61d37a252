#!/usr/bin/python3
"""The whole proof of nkigen-bench, by hand: every task well posed, every known kernel right by both rules.

usage: PYTHONPATH=build/nkisim /usr/bin/python3 tests/benchmark/prove.py [GLOB...]      e.g. 'L1/*softmax*'

One line a task with its processor seconds: the slowest trial of its reference, and its known kernel compiled and run
in all trials, references not counted; exit 1 when a task has a fault. The suite runs the same on a sample."""

import fnmatch
import json
import statistics
import sys

import known_kernels

check = known_kernels.load(known_kernels.LIBEXEC / "check_index.py", "check_index")


def prove(task):
    """@returns (faults, has a known kernel, seconds of its reference, seconds of its kernel)"""
    source = (known_kernels.BENCH / "tasks" / f"{task['id']}.py").read_text()
    tally, watch = check.Tally(), known_kernels.Watch()
    faults = check.problems_of(source, task, known_kernels.TRIALS, tally)
    known = (known_kernels.BENCH / "kernels" / f"{task['id']}.py").exists()
    if known:
        faults += ["known kernel: " + problem for problem in known_kernels.kernel_problems(task, watch=watch)]
    return faults, known, tally.reference_seconds, watch.seconds


def print_times(what, times):
    """@param times {task id: seconds}"""
    slowest = max(times, key=times.get)
    print(f"{what}: median {statistics.median(times.values()):.3f} s, slowest {times[slowest]:.3f} s ({slowest})")


def main(globs):
    tasks = json.loads((known_kernels.BENCH / "index.json").read_text())["tasks"]
    wanted = [t for t in tasks if any(fnmatch.fnmatch(t["id"], g) for g in globs or ["*"])]
    faulty, references, kernels = 0, {}, {}
    for task in wanted:
        faults, known, references[task["id"]], seconds = prove(task)
        faulty += bool(faults)
        kernels |= {task["id"]: seconds} if known else {}
        note = "; ".join(faults) or ("ok" if known else "ok, no known kernel")
        print(f"{task['id']:<32} {references[task['id']]:6.3f} s {seconds:6.3f} s  {note}", flush=True)
    print(f"{len(wanted)} tasks, {faulty} with a fault, {len(kernels)} with a known kernel")
    for what, times in (("references", references), ("known kernels", kernels)):
        if times:
            print_times(what, times)
    sys.exit(1 if faulty or not wanted else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
