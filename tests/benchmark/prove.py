#!/usr/bin/python3
"""The whole proof of nkigen-bench, by hand: every task well posed, every known kernel right by both rules.

usage: PYTHONPATH=build/nkisim /usr/bin/python3 tests/benchmark/prove.py [GLOB...]      e.g. 'L1/*softmax*'

One line a task with the seconds of its two proofs; exit 1 when one has a fault. The suite runs it on a sample."""

import fnmatch
import json
import sys
import time

import known_kernels

check = known_kernels.load(known_kernels.LIBEXEC / "check_index.py", "check_index")


def prove(task):
    """@returns (faults, has a known kernel)"""
    source = (known_kernels.BENCH / "tasks" / f"{task['id']}.py").read_text()
    faults = check.problems_of(source, task, known_kernels.TRIALS)
    if not (known_kernels.BENCH / "kernels" / f"{task['id']}.py").exists():
        return faults, False
    return faults + ["known kernel: " + problem for problem in known_kernels.kernel_problems(task)], True


def main(globs):
    tasks = json.loads((known_kernels.BENCH / "index.json").read_text())["tasks"]
    wanted = [t for t in tasks if any(fnmatch.fnmatch(t["id"], g) for g in globs or ["*"])]
    faulty = kernels = 0
    for task in wanted:
        start = time.monotonic()
        faults, known = prove(task)
        faulty, kernels = faulty + bool(faults), kernels + known
        note = "; ".join(faults) or ("ok" if known else "ok, no known kernel")
        print(f"{task['id']:<32} {time.monotonic() - start:6.2f} s  {note}", flush=True)
    print(f"{len(wanted)} tasks, {faulty} with a fault, {kernels} with a known kernel")
    sys.exit(1 if faulty or not wanted else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
