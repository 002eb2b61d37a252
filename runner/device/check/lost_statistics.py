"""References with one statistic left out: a mean taken for zero, a normalisation without its mean or its variance.

A kernel that forgets one must be wrong; where the inputs hide it, the task is badly posed. Used by well_posed.py."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

# Their results: normalised, means, 1 / standard deviations. The last one is what instance normalisation becomes.
NORMS = ("native_layer_norm", "native_group_norm", "native_batch_norm")


def _is_norm(name, args):
    """Whether an operation normalises by statistics of its own input; args[5]: batch statistics, not running ones."""
    return name in NORMS and (name != "native_batch_norm" or args[5])


class _Without(TorchDispatchMode):
    """Leaves out statistic number `wanted` of those that a forward pass takes; counts them all."""

    def __init__(self, wanted):
        super().__init__()
        self.wanted, self.seen = wanted, 0

    def _is_next(self):
        self.seen += 1
        return self.seen - 1 == self.wanted

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        name = function._schema.name.split("::")[1]
        if name in ("mean", "var", "std"):
            return torch.zeros_like(result) if self._is_next() else result
        if _is_norm(name, args):
            out = result[0]
            if self._is_next():
                out = _normed(name, args, result[1:], mean=False)
            if self._is_next():
                out = _normed(name, args, result[1:], variance=False)
            return (out, *result[1:])
        return result


def _normed(name, args, statistics, mean=True, variance=True):
    """The normalisation of `args` once more, without one of its statistics."""
    x, weight, bias = args[0], *(args[2:4] if name == "native_layer_norm" else args[1:3])
    if name != "native_layer_norm":
        batch, groups = (x.shape[0], args[6]) if name == "native_group_norm" else x.shape[:2]
        rows, shape = x.reshape(batch, groups, -1), (1, -1, *[1] * (x.dim() - 2))
        weight, bias = (p.reshape(shape) if p is not None else None for p in (weight, bias))
        centre, scale = (s.reshape(batch, groups, 1) for s in statistics)
    else:
        rows, (centre, scale) = x, statistics
    out = ((rows - centre if mean else rows) * (scale if variance else 1.0)).reshape(x.shape)
    out = out * weight if weight is not None else out
    return out + bias if bias is not None else out


def without_statistics(forward):
    """Yields (what is left out, outputs) for each statistic that `forward()` takes.

    @param forward runs the model and gives its outputs"""
    wanted = 0
    while True:
        mode = _Without(wanted)
        with mode:
            outputs = forward()
        if wanted >= mode.seen:
            return
        yield f"the reference without statistic {wanted + 1} of {mode.seen}", outputs
        wanted += 1
