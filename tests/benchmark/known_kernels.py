"""Runs known kernels in the simulator and judges them by the paper's and the strict rule, on a task's own draws."""

import importlib.util
import os
import pathlib
import time

import numpy as np
import torch
from neuronxcc.nki import _harness
from neuronxcc.nki._trace import engine

ROOT = pathlib.Path(os.environ.get("NKIGRID_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BENCH = ROOT / "configs" / "nkigen-bench"
LIBEXEC = pathlib.Path(os.environ.get("NKIGRID_BUILD_DIR", ROOT / "build")) / "libexec"
TRIALS = 5
torch.set_num_threads(1)


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


well_posed = load(LIBEXEC / "well_posed.py", "well_posed")


class Watch:
    """Processor seconds of what runs within it."""

    seconds = 0.0

    def __enter__(self):
        self.start = time.process_time()

    def __exit__(self, *_):
        self.seconds += time.process_time() - self.start


def task_names(path):
    """What the task file defines."""
    return names_of(path.read_text(), str(path))


def names_of(source, name):
    """What a task's text defines."""
    names = {"__name__": "task", "__file__": name}
    exec(compile(source, name, "exec"), names)
    return names


def as_argument(tensor, spec):
    """The bytes that a kernel gets: bfloat16 as its bits."""
    if spec["dtype"] == "bfloat16":
        bits = tensor.to(torch.bfloat16).view(torch.int16).numpy().view(np.uint16)
        return np.ascontiguousarray(bits.reshape(spec["shape"]))
    return np.ascontiguousarray(tensor.numpy().astype(spec["dtype"]).reshape(spec["shape"]))


class Trials:
    """The draws of a task and its results for them, each made once."""

    def __init__(self, task, source):
        """@param task an entry of the index @param source its text"""
        self.task, self.names, self.made = task, names_of(source, task["id"]), {}

    def __getitem__(self, trial):
        """@returns (the kernel's arguments, the results)"""
        if trial not in self.made:
            model, given = well_posed.draw(self.task, self.names, 5000 + trial, trial)
            specs = zip(well_posed.tensors_of(model, given), self.task["inputs"])
            arguments = [as_argument(tensor, spec) for tensor, spec in specs]
            self.made[trial] = arguments, well_posed.arrays_of(well_posed.outputs_of(model, given))
        return self.made[trial]


def kernel_problems(task, folder=BENCH, trials=TRIALS, watch=None):
    """What is wrong with the known kernel of a task (an entry of the index), or [].
    @param watch a Watch, for its compilation and its runs"""
    source = (folder / "kernels" / f"{task['id']}.py").read_text()
    draws = Trials(task, (folder / "tasks" / f"{task['id']}.py").read_text())
    return problems_of(source, draws, trials, watch or Watch())


def problems_of(source, draws, trials, watch):
    """What is wrong with a kernel for the task of these Trials, or []."""
    task, problems = draws.task, []
    params = [(i["name"], tuple(i["shape"]), i["dtype"]) for i in task["inputs"]]
    with watch:
        made = _harness.compile_source(source, None, params, None, {})
    if not made["ok"]:
        return [f"line {made['line']}: {made['code']} {made['message']}"]
    wanted = [(tuple(o["shape"]), o["dtype"]) for o in task["outputs"]]
    if [(tuple(shape), dtype) for shape, dtype in made["outputs"]] != wanted:
        return [f"outputs are {made['outputs']}, the index has {wanted}"]
    for trial in range(trials):
        arguments, references = draws[trial]
        with watch:
            outputs, report = engine.run_raw(made["program"], arguments, made["outputs"])
        if report.get("code", "none") not in ("none", "", None):
            return problems + [f"trial {trial}: {report['code']} {report.get('message')}"]
        found = [p for got, want in zip(outputs, references) for p in output_problems(got, want, task)]
        problems += [f"trial {trial}: {problem}" for problem in found]
    return problems


def output_problems(got, want, task):
    """One output by both rules."""
    if not np.isfinite(got).all():
        return [f"{np.count_nonzero(~np.isfinite(got))} of {got.size} elements are not finite"]
    gap = np.abs(got.astype(np.float64) - want)
    if not np.allclose(got, want, atol=1e-3, rtol=1e-3):
        place = tuple(int(i) for i in np.unravel_index(gap.argmax(), gap.shape))
        return [f"max error {gap.max():g} at {place}, {np.mean(gap > 1e-3):.1%} are wrong"]
    relative = np.linalg.norm(gap.ravel()) / np.linalg.norm(want.astype(np.float64).ravel())
    limit = 5e-3 if any(i["dtype"] == "bfloat16" for i in task["inputs"]) else 1e-4
    problems = [f"relative error {relative:g}"] if relative > limit else []
    return problems + (["constant"] if np.ptp(got) == 0 else [])
