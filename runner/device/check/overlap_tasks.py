#!/usr/bin/python3
"""Finds duplicates of tasks among texts: the same program, nearly the same text, or the same results.

usage: overlap_tasks.py REQUEST SANDBOX_LIBRARY strict|relaxed

REQUEST is a file: {"a": [{"id", "source"}, ...], "b": [...], "inside": true|false, "near": 0..1, "behaviour":
true|false}. `inside` compares `a` with itself. One JSON object a line and pair on stdout: {"how": exact, near or
behaviour, "a", "b", "score"}; of a pair the strongest is said. The last line is {"ran": {"a", "b"}}: of how many texts
of each it is known what they do. What each means: docs/decisions/benchmark.md.
"""

import collections
import contextlib
import json
import os
import pathlib
import sys
from functools import partial

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
import torch  # noqa: E402

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent.absolute()))  # the helper programs lie side by side
import task_behaviour  # noqa: E402
import task_text  # noqa: E402
from child_sandbox import ChildEnded, Sandbox, readable_folders  # noqa: E402
from walled_answer import ask, say  # noqa: E402

ADDRESS_SPACE_BYTES = 8 << 30  # of a task's child, torch included
CPU_SECONDS = 60
MOST_ANSWER = 16 << 20


def asked(walls, act, checked, texts):
    """{id: what `act` tells of a text behind the walls}; what is no task, or does not run, is left out."""
    found = {}
    for text in texts:
        if not task_behaviour.may_be_task(text["source"]):
            continue
        with contextlib.suppress(ChildEnded):
            told = ask(walls, partial(act, text["source"]), checked, ADDRESS_SPACE_BYTES, CPU_SECONDS, MOST_ANSWER)
            if told is not None:
                found[text["id"]] = told
    return found


def run(walls, texts):
    return asked(walls, task_behaviour.behaviour, task_behaviour.checked, texts)


def behaviours(walls, a, b):
    """What the tasks of both do. Results of shapes that no other task has are not computed: most tasks, and mostly all
    that are dear, are told apart by a run without bytes.
    @param b None: `a` is compared with itself
    @returns ({id: behaviour()}, {id: the same of b}, how many of each are known)"""
    sides = [a] if b is None else [a, b]
    forms = [asked(walls, task_behaviour.form, lambda told: told and str(told), texts) for texts in sides]
    found = [run(walls, [text for text in texts if text["id"] not in of]) for texts, of in zip(sides, forms)]
    for of, ran in zip(forms, found):
        of |= {name: task_behaviour.form_of(told) for name, told in ran.items()}
    counts = collections.Counter(form for of in forms for form in (of.values() if b is None else set(of.values())))
    for texts, of, ran in zip(sides, forms, found):
        ran |= run(walls, [t for t in texts if t["id"] not in ran and counts[of.get(t["id"])] > 1])
    known = [sum(name in ran or counts[form] < 2 for name, form in of.items()) for of, ran in zip(forms, found)]
    return found[0], found[-1], known[0], known[-1]


def lines_of(request, walls):
    """Yields what is said, line by line."""
    inside = request["inside"]
    a, b = request["a"], request["a"] if inside else request["b"]
    seen = set()

    def fresh(first, second):
        pair = tuple(sorted((first, second))) if inside else (first, second)
        if (inside and first == second) or pair in seen:
            return False
        seen.add(pair)
        return True

    for first, second in task_text.exact_pairs(a, b):
        if fresh(first, second):
            yield said("exact", first, second, 1.0)
    for first, second, score in task_text.near_pairs(a, b, request["near"]):
        if fresh(first, second):
            yield said("near", first, second, round(score, 4))
    of_a, of_b, known_a, known_b = behaviours(walls, a, None if inside else b) if walls is not None else ({}, {}, 0, 0)
    for first, second in task_behaviour.same_pairs(of_a, of_b):
        if fresh(first, second):
            yield said("behaviour", first, second, 1.0)
    yield {"ran": {"a": known_a, "b": known_b}}


def said(how, first, second, score):
    """The line of a pair."""
    return {"how": how, "a": first, "b": second, "score": score}


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    torch.set_num_threads(1)
    walls = Sandbox(sys.argv[2], sys.argv[3] == "strict", readable_folders()) if request["behaviour"] else None
    for line in lines_of(request, walls):
        say(line)


if __name__ == "__main__":
    main()
