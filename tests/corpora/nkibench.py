"""AccelOpt's NKIBench: kernels measured on Trn1, at full size, against their own numpy references."""

import json
import pathlib

from case import Case, load, near

TITLE = "NKIBench baselines at full size"
CHECKOUT = "AccelOpt"
RELATIVE = 2e-5  # of the benchmark itself, by norm


def kernels(root):
    """[(name, file of the kernel, file of its reference)]"""
    bench = pathlib.Path(root, "NKIBench")
    table = json.loads((bench / "summary.json").read_text())
    return [
        (name, bench / one["kernel"], bench / one["task"])
        for name, entry in table.items()
        for case in entry["cases"].values()
        for one in case["impls"]
    ]


def prepare(kernel_file, task_file):
    """(kernel, its arguments, the task's module, the task's inputs)"""
    import numpy as np

    np.random.seed(42)
    task, module = load(task_file), load(kernel_file)
    inputs = task.get_inputs()
    return module.kernel, task.transform_to_nki_inputs(inputs), task, inputs


def check(kernel_file, task_file, relative=RELATIVE):
    """@raises AssertionError where the results are not the reference's by the benchmark's norm"""
    kernel, arguments, task, inputs = prepare(kernel_file, task_file)
    raw = kernel(*arguments)
    expected = task.forward(*inputs)
    results = task.transform_nki_outputs(raw, expected)
    for actual, wanted in zip(results, expected if isinstance(expected, tuple) else (expected,), strict=True):
        near(actual, wanted, relative)


def cases(root):
    return [Case(name, lambda k=kernel, t=task: check(k, t)) for name, kernel, task in kernels(root)]
