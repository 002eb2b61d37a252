#!/usr/bin/python3
"""Proves a benchmark folder against torch: its index says what the tasks are, and trivial answers fail on each task.

usage: check_index.py FOLDER SANDBOX_LIBRARY strict|relaxed [--trials N] [TASK_ID...]

One JSON object a line and task on stdout: {"id", "ok", "problems": [text, ...], "answers": {kind: how many were tried},
"integer_values", "reference_s"}. Exit 1 when a task has a problem, 2 when the folder cannot be read. What is checked:
docs/decisions/benchmark.md. The index is not read to build what it is compared with. A task is code from anybody: each
is looked at in a child behind the walls of a kernel's.
"""
import argparse
import collections
import json
import os
import pathlib
import stat
import sys
import time

# Behind the walls a child has no threads, and OpenBLAS would wait for its own for ever: it starts none.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np  # noqa: E402
import torch  # noqa: E402

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent.absolute()))  # the helper programs lie side by side
import task_facts  # noqa: E402
from child_sandbox import ChildEnded, Sandbox, readable_folders  # noqa: E402
from lost_statistics import without_statistics  # noqa: E402
from rounded_products import with_rounded_products  # noqa: E402
from walled_answer import ask, say  # noqa: E402
from well_posed import (  # noqa: E402
    ROUNDED_TRIALS,
    Liveness,
    arrays_of,
    draw,
    ends_of,
    outputs_of,
    passes,
    precision_problems,
    size_problems,
    tensors_of,
    trivial_answers,
)

ADDRESS_SPACE_BYTES = 16 << 30  # of a task's child, torch included
CPU_SECONDS = 600  # of a task's child
MOST_BYTES = 1 << 20  # of its findings
INPUT_KEYS = {"name", "shape", "dtype", "role", "domain", "bound"}


def read_task(path):
    """@raises OSError for anything but a regular file: a stranger's link or pipe is not followed"""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise OSError(f"'{path}' is no regular file")
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), encoding="utf-8") as file:
        return file.read()


def index_problems(entry, names):
    problems = []
    inputs, outputs, constants = task_facts.facts_of(names)
    listed = [{key: item.get(key) for key in ("name", "shape", "dtype", "role")} for item in entry["inputs"]]
    if listed != inputs:
        problems.append(f"the index lists inputs {listed}, torch has {inputs}")
    if entry["outputs"] != outputs:
        problems.append(f"the index lists outputs {entry['outputs']}, torch gives {outputs}")
    if any(output["dtype"] not in task_facts.OUTPUT_DTYPES for output in outputs):
        problems.append("outputs must be float32, int32 or uint8")
    if entry["constants"] != constants:
        problems.append(f"the index lists constants {entry['constants']}, the task has {constants}")
    for item in entry["inputs"]:
        if set(item) != INPUT_KEYS:
            problems.append(f"input '{item.get('name')}' has keys {list(item)}")
    return problems


def domain_problems(entry, tensors):
    problems = []
    low_high = {"positive": (1e-30, np.inf), "unit": (-1, 1), "probability": (0, 1)}
    for item, value in zip(entry["inputs"], tensors):
        low, high = (
            (0, item["bound"] - 1) if item["domain"] == "index" else low_high.get(item["domain"], (-np.inf, np.inf))
        )
        if float(value.min()) < low or float(value.max()) > high:
            problems.append(
                f"input '{item['name']}' leaves its domain {item['domain']}: {value.min():g} .. {value.max():g}"
            )
    return problems


class Tally:
    """What the proof of a task looked at, for the summary of all."""

    def __init__(self):
        self.answers = collections.Counter()  # kind of cheap answer -> how many were tried
        self.integer_values = 0  # the most distinct ones that an integer input or output takes in a trial
        self.reference_seconds = 0.0  # of the processor, the slowest trial

    def see_integers(self, arrays):
        counts = [np.unique(a).size for a in arrays if a.dtype.kind in "iub"]
        self.integer_values = max([self.integer_values, *counts])

    def as_dict(self):
        """What a line says, beside id and problems."""
        seconds = round(self.reference_seconds, 4)
        return {"answers": dict(self.answers), "integer_values": self.integer_values, "reference_s": seconds}

    @staticmethod
    def checked(said):
        """A child's words as those of as_dict(). @raises ValueError, or another error, when they are no tally"""
        answers = {str(kind): int(count) for kind, count in said["answers"].items()}
        numbers = {"integer_values": int(said["integer_values"]), "reference_s": float(said["reference_s"])}
        if not all(0 <= number < 1 << 53 for number in [*answers.values(), *numbers.values()]):
            raise ValueError("its tally is no count")
        return {"answers": answers, **numbers}


def cheap_answers(model, given, references, arguments, elsewhere, sees_rounding):
    """Yields what must fail in each trial: (kind, what it is, outputs)."""
    yield from (("trivial", *answer) for answer in trivial_answers(references, arguments, elsewhere))
    yield from (("ends", *answer) for answer in ends_of(references))
    for what, outputs in without_statistics(lambda: outputs_of(model, given)):
        yield "statistics", what, arrays_of(outputs)
    rounded = with_rounded_products(lambda: outputs_of(model, given)) if sees_rounding else None
    if rounded is not None:
        yield "bfloat16", "the reference with products of bfloat16 operands", arrays_of(rounded)


def conduct_problems(model, given, references):
    """What a reference may not do: draw, change its model, give another answer the second time."""
    problems, state = [], torch.get_rng_state()
    before = {n: b.clone() for n, b in model.named_buffers()}
    again = arrays_of(outputs_of(model, given))
    if not torch.equal(state, torch.get_rng_state()):
        problems.append("forward() draws random numbers")
    if any(not torch.equal(b, before[n]) for n, b in model.named_buffers()):
        problems.append("forward() changes a buffer")
    if not all(np.array_equal(a, b) for a, b in zip(references, again)):
        problems.append("forward() is not repeatable")
    if not all(np.isfinite(r).all() for r in references):
        problems.append("the reference is not finite")
    return problems


def trial_problems(entry, names, trials, blind=False, tally=None):
    """@param blind the tolerance cannot see bfloat16 operands in this task @param tally is added to"""
    problems, liveness, tally = [], Liveness(entry), tally or Tally()
    blind |= any(item["dtype"] == "bfloat16" for item in entry["inputs"])
    elsewhere = arrays_of(outputs_of(*draw(entry, names, 1000 + trials, 0)))
    for trial in range(trials):
        model, given = draw(entry, names, 1000 + trial, trial)
        start = time.process_time()
        references = arrays_of(outputs_of(model, given))
        tally.reference_seconds = max(tally.reference_seconds, time.process_time() - start)
        arguments = [t.numpy() for t in tensors_of(model, given)]
        tally.see_integers(arguments + references)
        found = conduct_problems(model, given, references) + domain_problems(entry, arguments)
        found += size_problems(references, trial)
        sees_rounding = not blind and trial < ROUNDED_TRIALS
        for kind, what, answers in cheap_answers(model, given, references, arguments, elsewhere, sees_rounding):
            tally.answers[kind] += 1
            found += [f"{what} passes"] if passes(answers, references) else []
        liveness.look(model, given, references)
        found += precision_problems(model, given, references)
        problems += [f"trial {trial}: {what}" for what in found]
        elsewhere = references
    return problems + liveness.problems()


def problems_of(text, entry, trials, tally=None):
    """What is wrong with a task, in words."""
    try:
        names = task_facts.load_names(text, entry["id"] + ".py")
        blind = task_facts.is_blind(text, "bfloat16")
        return index_problems(entry, names) + trial_problems(entry, names, trials, blind, tally)
    except Exception as error:  # a broken task is a finding, not the end of the check
        return [f"{type(error).__name__}: {error}"]


def check_task(walls, folder, entry, trials):
    """problems_of() a task of the folder, in a child. @returns what its line says beside its id"""

    def look():
        tally = Tally()
        problems = problems_of(text, entry, trials, tally)
        return {"problems": problems, **tally.as_dict()}

    def checked(found):
        return {"problems": [str(problem) for problem in found["problems"]], **Tally.checked(found)}

    try:
        text = read_task(folder / "tasks" / (entry["id"] + ".py"))
        return ask(walls, look, checked, ADDRESS_SPACE_BYTES, CPU_SECONDS, MOST_BYTES)
    except (OSError, ValueError, TypeError, KeyError, ChildEnded) as error:
        words = str(error) if isinstance(error, ChildEnded) else f"{type(error).__name__}: {error}"
        return {"problems": [words], **Tally().as_dict()}


def main():
    parser = argparse.ArgumentParser(description="Proves a benchmark folder against torch.")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("library", help="libnkigrid_sandbox.so")
    parser.add_argument("walls", choices=["strict", "relaxed"])
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--trials", type=int, default=5)
    options = parser.parse_args()
    try:
        entries = json.loads((options.folder / "index.json").read_text())["tasks"]
    except (OSError, ValueError, KeyError) as error:
        parser.exit(2, f"cannot read the index of '{options.folder}': {error}\n")
    torch.set_num_threads(1)
    walls = Sandbox(options.library, options.walls == "strict", readable_folders())
    failed = False
    for entry in entries:
        if options.tasks and entry["id"] not in options.tasks:
            continue
        found = check_task(walls, options.folder, entry, options.trials)
        failed |= bool(found["problems"])
        say({"id": entry["id"], "ok": not found["problems"], **found})
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
