"""What makes a task well posed, asked of torch: one answer, to which every input matters, which nothing cheap imitates.

Used by check_index.py; why each demand is made: docs/decisions/benchmark.md."""

import contextlib
import pathlib
import sys

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent.absolute()))  # the helper programs lie side by side
import reference_task  # noqa: E402, its rounding and its shift of late trials are part of what a task must survive
import task_form  # noqa: E402

ATOL = RTOL = 1e-3  # the paper's rule
ROUNDED_TRIALS = 3  # trials whose inputs are not moved: there the tolerance sees what bfloat16 does to products
LEAST_SIZE, MOST_SIZE = 0.01, 100.0  # of a result's root mean square where inputs are not moved: of order one
TILE = 128  # partitions; the rest of an axis that they do not fill is its last ragged tile
BLOCK = 1 << 16  # elements that are compared at once
SPARE = 0.1  # the part of the tolerance that float32 itself may use up


def build(names, seed):
    """@returns the model and its inputs as a trial draws them: under one seed, float32, eval mode."""
    torch.manual_seed(seed)
    return task_form.make_model(names).float(), list(names["get_inputs"]())


def shift(entry, given, trial):
    """The inputs as a trial of a check has them: float32 with the values that the kernel sees, late trials moved."""
    specs = iter([i for i in entry["inputs"] if i["role"] == "input"])
    return task_form.map_tensors(lambda value: _drawn(value, next(specs), trial), given)


def _drawn(value, spec, trial):
    value = value.float() if value.is_floating_point() else value
    return reference_task.rounded(torch, reference_task.shifted(torch, value, spec, trial), spec)


def draw(entry, names, seed, trial):
    """@returns the model and its inputs of one trial, weights rounded as the kernel gets them."""
    model, given = build(names, seed)
    weights = [weight for _, weight, _ in task_form.weights_of(model)]
    specs = [i for i in entry["inputs"] if i["role"] != "input"]
    with torch.no_grad():
        for weight, spec in zip(weights, specs):
            weight.copy_(reference_task.rounded(torch, weight, spec))
    return model, shift(entry, given, trial)


def tensors_of(model, given):
    """The kernel's arguments, in the index's order: inputs, parameters, floating buffers."""
    weights = [weight for _, weight, _ in task_form.weights_of(model)]
    return [t.detach() for t in [*task_form.tensors(given), *weights]]


def outputs_of(model, given):
    with torch.no_grad():
        results = task_form.tensors(model(*given))
    return [r.reshape(1) if r.dim() == 0 else r for r in results]


def arrays_of(outputs):
    return [r.numpy() for r in outputs]


def passes(answers, references, part=1.0):
    """The paper's rule for a list of outputs, with `part` of its tolerance."""
    return all(
        a.shape == r.shape and _is_close(a.reshape(-1), r.reshape(-1), part) for a, r in zip(answers, references)
    )


def _is_close(answer, reference, part):
    """Block by block: what is wrong mostly is so at once, and results may have millions of elements."""
    return all(
        np.allclose(answer[i : i + BLOCK], reference[i : i + BLOCK], atol=part * ATOL, rtol=part * RTOL)
        for i in range(0, reference.size, BLOCK)
    )


def imitations(references, arguments, elsewhere):
    """Yields answers that take no work: (kind, what it is, outputs).

    @param elsewhere the references of another trial, or None where there is none"""
    yield "zeros", "zeros", [np.zeros_like(r) for r in references]
    yield "ones", "ones", [np.ones_like(r) for r in references]
    if any(r.size > 1 for r in references):  # of one value it would be the answer
        yield "mean", "the mean of the reference", [np.full_like(r, r.mean()) for r in references]
    if elsewhere is not None:
        yield "other-inputs", "the result for the inputs of another trial", elsewhere
    for position, value in enumerate(arguments):
        if all(value.size == r.size for r in references):
            copies = [value.reshape(r.shape).astype(r.dtype) for r in references]
            yield "copy", f"a copy of input {position}", copies
    if any(len(r) > 1 for r in references):
        rolled = [np.roll(r, 1, axis=0) for r in references]
        yield "next-entry", "the result of the next entry of the first axis", rolled


def trivial_answers(references, arguments, elsewhere):
    """Yields what must fail: (what it is, outputs).

    @param elsewhere the references of another trial"""
    yield from ((what, outputs) for _, what, outputs in imitations(references, arguments, elsewhere))
    if all(r.dtype.kind == "f" for r in references):
        yield "the reference rounded to float8", [float8(r) for r in references]


def cut_answers(references, entries):
    """Yields right answers that lack one end: (what it is, outputs).

    @param entries gives of an axis' size how many of its last entries are lacking, or 0: none of this axis"""
    for place, reference in enumerate(references):
        for axis, size in enumerate(reference.shape):
            count = entries(size)
            if not 0 < count < size:
                continue
            answers = [r.copy() for r in references]
            np.moveaxis(answers[place], axis, 0)[-count:] = 0
            named = "entry" if count == 1 else f"{count} entries"
            yield f"output {place} without its last {named} of axis {axis}", answers


def ends_of(references):
    """Yields answers that lack a row, a column or a tile, which must fail in each trial. Rows and columns by twos: one
    element alone may be small by chance, as in a causal softmax' last column, and is asked for over all trials."""
    yield from cut_answers(references, lambda size: 2 if size > 4 else 1)
    yield from cut_answers(references, lambda size: size % TILE if size > TILE else 0)


def size_problems(references, trial):
    """Results are of order one, so that a tolerance of a thousandth means something."""
    problems = []
    for place, reference in enumerate(references if trial < ROUNDED_TRIALS else []):
        size = float(np.sqrt(np.mean(np.square(reference.astype(np.float64))))) if reference.dtype.kind == "f" else 1.0
        if not LEAST_SIZE <= size <= MOST_SIZE:
            problems.append(f"output {place} is of order {size:.2g}, not one")
    return problems


def float8(values):
    """Rounded to the four significant bits of float8_e4m3; its range is not kept, which makes it the better answer."""
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.round(fraction * 16) / 16, exponent).astype(values.dtype)


@contextlib.contextmanager
def _float_is_double():
    """Within it a task's own x.float() widens as the rest of the model does."""
    narrow = torch.Tensor.float
    torch.Tensor.float = lambda tensor: tensor.double()
    try:
        yield
    finally:
        torch.Tensor.float = narrow


def precision_problems(model, given, references):
    """float32 may use up a tenth of the tolerance: else a kernel in another order of summation is wrong by chance."""
    wide = task_form.map_tensors(lambda t: t.double() if t.is_floating_point() else t, given)
    with _float_is_double():
        outputs = outputs_of(model.double(), wide)
    model.float()
    exact = [o.numpy().astype(r.dtype) for o, r in zip(outputs, references)]
    if passes(references, exact, SPARE):
        return []
    return [f"float32 and float64 differ by more than {SPARE * ATOL:g}"]


def moved(values, spec):
    """Other values of the same domain."""
    domain = spec["domain"]
    if domain == "index":
        return (values + 1) % spec["bound"]
    if domain == "positive":
        return 0.2 + values * values
    if domain in ("probability", "unit"):
        return (1 - values) if domain == "probability" else -values
    return 0.5 - 1.5 * values if values.is_floating_point() else values ^ 1


class Liveness:
    """Which ends of which axes of inputs and outputs have been seen to matter, over all trials of a task.

    The last entry of each axis stands for all: it is what a kernel with a lost tail would not read or not write."""

    def __init__(self, entry):
        self.cuts = {}
        self.specs = entry["inputs"]
        self.unseen = {(i, a) for i, s in enumerate(self.specs) for a, n in enumerate(s["shape"]) if n > 1}
        self.unseen |= {(i, 0) for i, s in enumerate(self.specs) if s["shape"] == [1]}

    def look(self, model, given, references):
        arguments = tensors_of(model, given)
        for place, axis in sorted(self.unseen):
            entries = arguments[place].reshape(self.specs[place]["shape"]).movedim(axis, 0)
            before = entries[-1].clone()
            entries[-1] = moved(before, self.specs[place])
            if not passes(arrays_of(outputs_of(model, given)), references):
                self.unseen.discard((place, axis))
            entries[-1] = before
        for what, answers in cut_answers(references, lambda size: 1):
            self.cuts[what] = self.cuts.get(what, True) and passes(answers, references)

    def problems(self):
        return [f"{what} passes in every trial" for what, passed in self.cuts.items() if passed] + [
            f"input '{self.specs[place]['name']}': the last entry of axis {axis} changes nothing"
            for place, axis in sorted(self.unseen)
        ]
