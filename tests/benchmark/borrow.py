#!/usr/bin/python3
"""Which tasks of another benchmark the known kernels of nkigen-bench are right for, as they are.

usage: PYTHONPATH=build/nkisim /usr/bin/python3 tests/benchmark/borrow.py FOLDER [GLOB...]

FOLDER is one that `bench import` wrote. A kernel is tried on each task that gives it as many arguments, and wants as
many results, of the same ranks and types as its own task does; who passes both rules in all trials does the same
operation. No name is looked at. One line a task: the kernels that pass, and those that run and are wrong."""

import collections
import fnmatch
import json
import pathlib
import sys

import known_kernels


def form_of(task):
    """What a kernel for a task must fit."""
    tensors = [*task["inputs"], None, *task["outputs"]]
    return str([t and (len(t["shape"]), t["dtype"]) for t in tensors])


def try_kernels(draws, kernels):
    """@param kernels {id of its task: text} @returns (those that pass, those that run and are wrong)"""
    right, wrong = [], []
    for task_id, source in kernels.items():
        problems = known_kernels.problems_of(source, draws, 1, known_kernels.Watch())
        problems = problems or known_kernels.problems_of(source, draws, known_kernels.TRIALS, known_kernels.Watch())
        if not problems:
            right.append(task_id)
        elif problems[0].startswith("trial"):
            wrong.append(task_id)
    return right, wrong


def main(folder, globs):
    kernels = collections.defaultdict(dict)
    for task in json.loads((known_kernels.BENCH / "index.json").read_text())["tasks"]:
        kernels[form_of(task)][task["id"]] = (known_kernels.BENCH / "kernels" / f"{task['id']}.py").read_text()
    tasks = json.loads((folder / "index.json").read_text())["tasks"]
    counts = collections.Counter()
    for task in tasks:
        if not any(fnmatch.fnmatch(task["id"], glob) for glob in globs or ["*"]):
            continue
        level, fitting = task["id"].split("/")[0], kernels.get(form_of(task), {})
        right, wrong = try_kernels(known_kernels.Trials(task, folder / "tasks" / f"{task['id']}.py"), fitting)
        counts[level, "tasks"] += 1
        counts[level, "passed"] += bool(right)
        print(f"{task['id']:<60} {len(fitting):3} tried  passed by {right}  wrong {wrong}", flush=True)
    for level in sorted({level for level, _ in counts}):
        print(f"{level}: {counts[level, 'passed']} of {counts[level, 'tasks']} tasks passed by a known kernel")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), sys.argv[2:])
