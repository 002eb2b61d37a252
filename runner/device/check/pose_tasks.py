#!/usr/bin/python3
"""Poses tasks to NKI (task_pose.py), each in a child behind the walls of a kernel's: a task is code from anybody.

usage: pose_tasks.py REQUEST SANDBOX_LIBRARY strict|relaxed

REQUEST is a file: {"max_task_bytes": N, "shrink": true|false, "tasks": [{"id", "source", "category"}, ...]}. One JSON
object a line and task on stdout: {"id", "entry", "about", "source"}, or {"id", "refused": why}. `source` is the task's
text, with other sizes when it was shrunk.
"""

import json
import os
import pathlib
import re
import sys
from functools import partial

# Behind the walls a child has no threads, and OpenBLAS would wait for its own for ever: it starts none.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
import torch  # noqa: E402

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent.absolute()))  # the helper programs lie side by side
import task_pose  # noqa: E402
import task_shrink  # noqa: E402
from child_sandbox import ChildEnded, Sandbox, readable_folders  # noqa: E402
from task_facts import Refused  # noqa: E402
from walled_answer import ask, say  # noqa: E402

CPU_SECONDS = 120  # of a task's child
MOST_ANSWER = 4 << 20  # bytes of its answer
MOST_WORDS = 400  # characters of why it is refused
SPARE_ADDRESSES = 3 << 30  # bytes: torch itself, and what is not tensors
COPIES = 6  # of all its tensors that a reference may hold at once


def why_not(error):
    """An error of the task's own code as the reason why it is not posed."""
    text = " ".join(str(error).split())
    if isinstance(error, ModuleNotFoundError):
        return f"needs the package '{error.name}'"
    if isinstance(error, AttributeError) and re.search(r"module 'torch[\w.]*' has no attribute|torch\._C", text):
        return f"needs a newer torch than {torch.__version__}: {text}"
    if re.search(r"not compiled with CUDA|No CUDA GPUs|NVIDIA driver", text):
        return f"asks for a GPU, and references run on the CPU ({text[:100]})"
    if isinstance(error, PermissionError):
        return f"reaches for what no reference may ({text[:200]})"
    if isinstance(error, MemoryError) or "allocate memory" in text:
        return "needs more memory than its tensors account for"
    return f"{type(error).__name__}: {text[:300]}"


def posed(source, name, category, most_bytes, shrinks):
    """@returns (index entry, object of about.json, source)"""
    if not shrinks:
        return (*task_pose.pose(source, name, category, most_bytes), source)
    smaller = task_shrink.shrink(source, name)
    try:
        entry, about = task_pose.pose(smaller, name, category, min(most_bytes, task_shrink.MOST_BYTES))
    except Refused:
        raise
    except Exception as error:  # sizes were chosen by shapes alone: numbers may say that they do not fit together
        try:
            smaller = source
            entry, about = task_pose.pose(source, name, category, min(most_bytes, task_shrink.MOST_BYTES))
        except Refused:
            raise error from None
    task_shrink.demand_small(about["hbm_bytes"], about["flops"])  # of what had to be run to tell
    return entry, about, smaller


def answer(task, most_bytes, shrinks):
    """In a child. @returns the line of a task"""
    try:
        source, name = task["source"], task["id"] + ".py"
        entry, about, source = posed(source, name, task["category"], most_bytes, shrinks)
        return {"id": task["id"], "entry": {"id": task["id"], **entry}, "about": about, "source": source}
    except Refused as refused:
        return {"id": task["id"], "refused": str(refused)}
    except Exception as error:  # the task's own code: anything may come
        return {"id": task["id"], "refused": why_not(error)}


def checked(task, shrinks, line):
    """What is no answer for this task is refused. @raises ValueError, KeyError"""
    if "refused" in line:
        return {"id": task["id"], "refused": str(line["refused"])[:MOST_WORDS]}
    kinds = (("entry", dict), ("about", dict), ("source", str))
    if not all(isinstance(line[key], kind) for key, kind in kinds) or line["entry"]["id"] != task["id"]:
        raise ValueError("its code answered for another task")
    if not shrinks and line["source"] != task["source"]:
        raise ValueError("its code answered with another text than its file's")
    if any(isinstance(number, (int, float)) and not 0 <= number <= 2**63 for number in line["about"].values()):
        raise ValueError("its code told of counts and times that nothing has")
    return {"id": task["id"], **{key: line[key] for key, _ in kinds}}


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    most_bytes = request["max_task_bytes"]
    addresses = SPARE_ADDRESSES + COPIES * most_bytes
    torch.set_num_threads(1)
    walls = Sandbox(sys.argv[2], sys.argv[3] == "strict", readable_folders())
    for task in request["tasks"]:
        try:
            act = partial(answer, task, most_bytes, request["shrink"])
            say(ask(walls, act, partial(checked, task, request["shrink"]), addresses, CPU_SECONDS, MOST_ANSWER))
        except ChildEnded as error:
            say({"id": task["id"], "refused": str(error)})


if __name__ == "__main__":
    main()
