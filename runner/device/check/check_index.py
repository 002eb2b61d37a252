#!/usr/bin/python3
"""Proves a benchmark folder against torch: its index says what the tasks are, and trivial answers fail on each task.

usage: check_index.py FOLDER SANDBOX_LIBRARY strict|relaxed [--trials N] [TASK_ID...]

One JSON object a line and task on stdout: {"id", "ok", "problems": [text, ...]}. Exit 1 when a task has a problem, 2
when the folder cannot be read. What is checked: docs/decisions/benchmark.md. The index is not read to build what it is
compared with. A task is code from anybody: each is looked at in a child behind the walls of a kernel's.
"""
import argparse
import inspect
import json
import os
import pathlib
import stat
import sys

import numpy as np
import torch

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent.absolute()))  # the helper programs lie side by side
from child_sandbox import ChildEnded, Sandbox, readable_folders  # noqa: E402
import reference_task  # noqa: E402, its shift of late trials is part of what a task must survive

ADDRESS_SPACE_BYTES = 16 << 30  # of a task's child, torch included
CPU_SECONDS = 600  # of a task's child
MOST_BYTES = 1 << 20  # of its findings
ATOL = RTOL = 1e-3  # the paper's rule
KERNEL_DTYPES = {
    "torch.float32": "float32",
    "torch.bfloat16": "bfloat16",
    "torch.int32": "int32",
    "torch.int64": "int32",
    "torch.bool": "uint8",
    "torch.uint8": "uint8",
}
OUTPUT_DTYPES = {"float32", "int32", "uint8"}
INPUT_KEYS = ["name", "shape", "dtype", "role", "domain", "bound"]


def read_task(path):
    """@raises OSError for anything but a regular file: a stranger's link or pipe is not followed"""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise OSError(f"'{path}' is no regular file")
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), encoding="utf-8") as file:
        return file.read()


def load_task(text, name):
    names = {"__name__": "task", "__file__": name}
    exec(compile(text, name, "exec"), names)
    return names


def build(names, seed):
    """@returns the model and its inputs as a trial draws them: under one seed, eval mode."""
    torch.manual_seed(seed)
    model = names["Model"](*names["get_init_inputs"]()).eval()
    return model, names["get_inputs"]()


def shift(entry, given, trial):
    """The inputs as trial `trial` of a check has them: late trials move and stretch `real` ones."""
    specs = iter([i for i in entry["inputs"] if i["role"] == "input"])
    return [reference_task.shifted(torch, v, next(specs), trial) if isinstance(v, torch.Tensor) else v for v in given]


def outputs_of(model, given):
    with torch.no_grad():
        result = model(*given)
    return [r.reshape(1) if r.dim() == 0 else r for r in (result if isinstance(result, tuple) else (result,))]


def shape_of(tensor):
    return list(tensor.shape) or [1]


def passes(answers, references):
    """The paper's rule for a list of outputs."""
    return all(a.shape == r.shape and np.allclose(a, r, atol=ATOL, rtol=RTOL) for a, r in zip(answers, references))


def facts_of(names):
    """What torch says that a kernel gets and gives: inputs (name, shape, dtype, role), outputs, constants."""
    model, given = build(names, 0)
    forward = list(inspect.signature(model.forward).parameters)
    init = [p for p in inspect.signature(type(model).__init__).parameters if p != "self"]
    tensors, constants = [], list(zip(init, names["get_init_inputs"]()))
    for name, value in zip(forward, given):
        if isinstance(value, torch.Tensor):
            tensors.append((name, value, "input"))
        else:
            constants.append((name, value))
    tensors += [(n, p, "parameter") for n, p in model.named_parameters()]
    tensors += [(n, b, "buffer") for n, b in model.named_buffers() if b.dtype.is_floating_point]
    inputs = [(n.replace(".", "_"), shape_of(t), KERNEL_DTYPES.get(str(t.dtype)), role) for n, t, role in tensors]
    outputs = [(shape_of(t), KERNEL_DTYPES.get(str(t.dtype))) for t in outputs_of(model, given)]
    return inputs, outputs, constants


def index_problems(entry, names):
    problems = []
    inputs, outputs, constants = facts_of(names)
    listed = [(i["name"], i["shape"], i["dtype"], i["role"]) for i in entry["inputs"]]
    if listed != inputs:
        problems.append(f"the index lists inputs {listed}, torch has {inputs}")
    if [(o["shape"], o["dtype"]) for o in entry["outputs"]] != outputs:
        problems.append(f"the index lists outputs {entry['outputs']}, torch gives {outputs}")
    if any(dtype not in OUTPUT_DTYPES for _, dtype in outputs):
        problems.append("outputs must be float32, int32 or uint8")
    if [(c["name"], c["value"]) for c in entry["constants"]] != [(n, repr(v)) for n, v in constants]:
        problems.append(f"the index lists constants {entry['constants']}, the task has {constants}")
    for item in entry["inputs"]:
        if list(item) != INPUT_KEYS:
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


def trivial_answers(references, tensors, elsewhere):
    """What must fail: (what it is, outputs)."""
    yield "zeros", [np.zeros_like(r) for r in references]
    yield "the mean of the reference", [np.full_like(r, r.mean()) for r in references]
    if elsewhere is not None:
        yield "the result for the inputs of another trial", elsewhere
    for position, value in enumerate(tensors):
        if all(value.size == r.size for r in references):
            yield f"a copy of input {position}", [value.reshape(r.shape).astype(r.dtype) for r in references]


def trial_problems(entry, names, trials):
    problems, elsewhere = [], None
    for trial in range(trials):
        model, given = build(names, 1000 + trial)
        given = shift(entry, given, trial)
        state = torch.get_rng_state()
        before = {n: b.clone() for n, b in model.named_buffers()}
        references = [r.numpy() for r in outputs_of(model, given)]
        again = [r.numpy() for r in outputs_of(model, given)]
        if not torch.equal(state, torch.get_rng_state()):
            problems.append("forward() draws random numbers")
        if any(not torch.equal(b, before[n]) for n, b in model.named_buffers()):
            problems.append("forward() changes a buffer")
        if not all(np.array_equal(a, b) for a, b in zip(references, again)):
            problems.append(f"trial {trial}: forward() is not repeatable")
        if not all(np.isfinite(r).all() for r in references):
            problems.append(f"trial {trial}: the reference is not finite")
        tensors = [
            t.detach().numpy()
            for t in [g for g in given if isinstance(g, torch.Tensor)]
            + list(model.parameters())
            + [b for b in model.buffers() if b.dtype.is_floating_point]
        ]
        problems += [f"trial {trial}: {p}" for p in domain_problems(entry, tensors)]
        for what, answers in trivial_answers(references, tensors, elsewhere):
            if passes(answers, references):
                problems.append(f"trial {trial}: {what} passes")
        elsewhere = references
    return problems


def problems_of(text, entry, trials):
    """What is wrong with a task, in words."""
    try:
        names = load_task(text, entry["id"] + ".py")
        return index_problems(entry, names) + trial_problems(entry, names, trials)
    except Exception as error:  # a broken task is a finding, not the end of the check
        return [f"{type(error).__name__}: {error}"]


def check_task(walls, folder, entry, trials):
    """problems_of() a task of the folder, in a child."""
    try:
        text = read_task(folder / "tasks" / (entry["id"] + ".py"))
        words = walls.run(
            lambda: json.dumps(problems_of(text, entry, trials)).encode(), ADDRESS_SPACE_BYTES, CPU_SECONDS, MOST_BYTES
        )
        return [str(problem) for problem in json.loads(words)]
    except (OSError, ValueError, TypeError, ChildEnded) as error:
        return [f"{type(error).__name__}: {error}" if not isinstance(error, ChildEnded) else str(error)]


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
        problems = check_task(walls, options.folder, entry, options.trials)
        failed |= bool(problems)
        print(json.dumps({"id": entry["id"], "ok": not problems, "problems": problems}), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
