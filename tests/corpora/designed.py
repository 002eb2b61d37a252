"""Kernels that agents wrote for NKIBench's tasks, each with the verdict of a trn2 (kda-for-trainium): right or not by
the benchmark's own norm, or refused by the compiler."""

import json
import pathlib

import nkibench
from case import Case

TITLE = "kernels of agents with a trn2's verdicts"
CHECKOUT = "kda-for-trainium"
RELATIVE = {"mamba": 3e-5}  # where it is not nkibench.RELATIVE


def verdicts(root):
    """{(operator, file of a kernel): did any run of it pass}, without what never ran on a chip"""
    found = {}
    for log in sorted(pathlib.Path(root).glob("workspaces/*/candidates.jsonl")):
        for record in map(json.loads, filter(str.strip, log.read_text().splitlines())):
            file = log.parent / (record.get("candidate") or "")
            if file.is_file() and isinstance(record.get("passed"), bool) and "@nki.jit" in file.read_text():
                found[log.parent.name, file] = found.get((log.parent.name, file), False) or record["passed"]
    return found


def cases(root):
    tasks = {name: task for name, _, task in nkibench.kernels(pathlib.Path(root).parent / nkibench.CHECKOUT)}
    return [
        Case(f"{operator}/{file.stem}", lambda o=operator, f=file: _run(f, tasks[o], o), passed)
        for (operator, file), passed in verdicts(root).items()
    ]


def _run(kernel_file, task_file, operator):
    nkibench.check(kernel_file, task_file, RELATIVE.get(operator, nkibench.RELATIVE))
