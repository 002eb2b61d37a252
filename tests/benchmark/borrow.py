#!/usr/bin/python3
"""Which tasks of another benchmark the known kernels of nkigen-bench are right for.

usage: PYTHONPATH=build/nkisim /usr/bin/python3 tests/benchmark/borrow.py [--resize] FOLDER [GLOB...]

FOLDER is one that `bench import` wrote. A kernel is tried on each task that gives it as many arguments, and wants
as many results, of the same ranks and types as its own task does; who passes both rules in all trials does the same
operation. No name is looked at. --resize tries each kernel on the sizes of its own task, where the other task's
numbers can be set so (of module level and draws, each by itself): most kernels are written for the tiles of one
shape, and what is asked is whether the operation is the same. One line a task: the kernels that pass, and those
that run and are wrong."""

import argparse
import collections
import fnmatch
import itertools
import json
import pathlib
import sys

import known_kernels

sys.path.insert(0, str(known_kernels.LIBEXEC))
import task_pose  # noqa: E402
import task_shrink  # noqa: E402

MOST_BYTES = 64 << 20
MOST_TEXTS = 200  # that are tried for one kernel


def form_of(task):
    """What a kernel for a task must fit."""
    tensors = [*task["inputs"], None, *task["outputs"]]
    return str([t and (len(t["shape"]), t["dtype"]) for t in tensors])


def shapes_of(task):
    return [tensor["shape"] for tensor in task["inputs"] + task["outputs"]]


def texts_of(task, source, own):
    """Yields the task's text with the sizes of another of the same form: one number may stand for several axes (as many
    features out as in) that differ in the other, so each place of it is set on its own."""
    pairs = set(zip(sum(shapes_of(task), []), sum(shapes_of(own), [])))
    places = [(tuple(place), key[0]) for *place, key in task_shrink.places_of(source, 1)]
    choices = [sorted(new for old, new in pairs if old == value) or [value] for _, value in places]
    for chosen in itertools.islice(itertools.product(*choices), MOST_TEXTS):
        numbers = {place: new for (place, value), new in zip(places, chosen) if new != value}
        yield task_shrink.with_numbers(source, numbers)


def fits(text, task, own):
    """Whether the text gives tensors of the other's shapes; where only numbers tell, it may."""
    try:
        look = task_pose.fake_look(text, task["id"], MOST_BYTES)
        return look.results is None or shapes_of(look.entry()) == shapes_of(own)
    except Exception:  # its own code does not take these sizes
        return False


def resized(task, source, own):
    """The task with the sizes of another of the same form. @returns (its index entry, its text), or None when its
    numbers cannot be set so"""
    for text in texts_of(task, source, own):
        if not fits(text, task, own):
            continue
        try:
            entry = task_pose.pose(text, task["id"], task["category"], MOST_BYTES)[0]
        except Exception:  # these sizes are refused
            continue
        if shapes_of(entry) == shapes_of(own):
            return {"id": task["id"], **entry}, text
    return None


def problems_of(kernel, draws):
    """One trial first: most kernels that do something else end there."""
    watch = known_kernels.Watch()
    problems = known_kernels.problems_of(kernel, draws, 1, watch)
    return problems or known_kernels.problems_of(kernel, draws, known_kernels.TRIALS, watch)


def try_kernels(task, source, kernels, resize):
    """@param kernels [(its own task, text)]
    @returns (those that pass, those that run and are wrong, how many were tried)"""
    right, wrong, tried = [], [], 0
    draws = known_kernels.Trials(task, source)
    for own, kernel in kernels:
        if resize:
            other = resized(task, source, own)
            if other is None:
                continue
            draws = known_kernels.Trials(*other)
        tried += 1
        problems = problems_of(kernel, draws)
        if not problems:
            right.append(own["id"])
        elif problems[0].startswith("trial"):
            wrong.append(own["id"])
    return right, wrong, tried


def main():
    parser = argparse.ArgumentParser(description="Tries known kernels on tasks of another benchmark.")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("globs", nargs="*", default=["*"])
    parser.add_argument("--resize", action="store_true")
    options = parser.parse_args()
    kernels = collections.defaultdict(list)
    for task in json.loads((known_kernels.BENCH / "index.json").read_text())["tasks"]:
        text = (known_kernels.BENCH / "kernels" / f"{task['id']}.py").read_text()
        kernels[form_of(task)].append((task, text))
    counts = collections.Counter()
    for task in json.loads((options.folder / "index.json").read_text())["tasks"]:
        if not any(fnmatch.fnmatch(task["id"], glob) for glob in options.globs):
            continue
        source = (options.folder / "tasks" / f"{task['id']}.py").read_text()
        right, wrong, tried = try_kernels(task, source, kernels.get(form_of(task), []), options.resize)
        level = task["id"].split("/")[0]
        counts[level, "tasks"] += 1
        counts[level, "tried"] += bool(tried)
        counts[level, "passed"] += bool(right)
        print(f"{task['id']:<60} {tried:3} tried  passed by {right}  wrong {wrong}", flush=True)
    for level in sorted({level for level, _ in counts}):
        passed, fitting, tasks = (counts[level, key] for key in ("passed", "tried", "tasks"))
        print(f"{level}: of {tasks} tasks a known kernel fits {fitting} and passes {passed}")


if __name__ == "__main__":
    main()
