"""Views that stand for a buffer under another shape or dtype: reshape, view."""

import math

from . import context
from .affine import Aff
from .checks import need_dtype
from .context import fail
from .limits import MAX_RANK
from .nodes import Buffer
from .scope import check_alive
from .tensor import Tensor, identity_dims, method, shape_argument


@method
def reshape(self, *sizes, shape=None):
    shape = sizes if shape is None else (shape,)
    shape = shape_argument(shape[0] if len(shape) == 1 else shape, ())
    return alias(self, shape, self.dtype, "reshape")


@method
def view(self, dtype):
    target = need_dtype(dtype, "view")
    if self.is_whole and self.shape and self.shape[-1] * self.dtype.size % target.size == 0:
        return alias(self, self.shape[:-1] + (self.shape[-1] * self.dtype.size // target.size,), target, "view")
    fail(
        "RANK_LAYOUT",
        f"view: {self.dtype} of shape {list(self.shape)} does not view as {target}",
        operands=[("tensor", self)],
        rule="a dtype view keeps the bytes of a whole tensor",
        fix="view the whole tensor, with a last axis whose bytes divide",
    )


def _fixed_axes(tensor):
    """How many leading dimensions of the buffer an index has fixed, where all others are there whole; None
    otherwise."""
    fixed = len(tensor.buffer_.shape) - tensor.ndim
    rest = identity_dims(tensor.shape)
    if tensor.dyn is not None or fixed < 0 or any(a.has_slots for a in tensor.dims[:fixed]):
        return None
    whole = tensor.shape == tensor.buffer_.shape[fixed:] and all(a.same(b) for a, b in zip(tensor.dims[fixed:], rest))
    return fixed if whole else None


def alias(tensor, shape, dtype, api):
    """A reshape or dtype view of a whole buffer, or of one of its blocks, x[b]: the bytes that follow one another."""
    check_alive(tensor)
    fixed = _fixed_axes(tensor)
    if fixed is None or fixed + len(shape) > MAX_RANK:
        fail(
            "RANK_LAYOUT",
            f"{api} of an indexed tensor is not implemented",
            operands=[("tensor", tensor)],
            rule=f"{api} takes a whole tensor, or one whose leading axes are indexed away",
            fix=f"{api} first, then index",
            kind=NotImplementedError,
        )
    old = tensor.buffer_
    if math.prod(shape) * dtype.size != math.prod(tensor.shape) * old.dtype.size:
        fail(
            "SHAPE_BROADCAST",
            f"{api}: {list(tensor.shape)} has {math.prod(tensor.shape)} elements, {list(shape)} has {math.prod(shape)}",
            operands=[("tensor", tensor)],
            rule="a reshape keeps the number of elements",
            fix="give a shape of the same size",
        )
    if old.on_chip and (old.pdim != fixed or shape[0] != tensor.shape[0]):
        fail(
            "RANK_LAYOUT",
            f"{api}: the partition axis of an on-chip tile would change from {list(old.shape)} to {list(shape)}",
            operands=[("tensor", tensor)],
            rule="reshape of a tile keeps axis 0 (partitions)",
            fix="reshape the HBM tensor before loading",
        )
    trace = context.current()
    line = context.kernel_line()
    pdim = fixed if old.on_chip else 0
    buffer = Buffer(old.kind, dtype, old.name, old.shape[:fixed] + shape, pdim, old.memory, line, old.region)
    buffer.stand_for(old)
    buffer.from_transpose = old.from_transpose
    trace.keep_buffer(buffer)
    if not fixed:
        return Tensor.whole(buffer)
    still = (0,) * len(shape)
    block = tuple(Aff(a.c, a.terms, still, shape) for a in tensor.dims[:fixed])
    return Tensor(buffer, block + identity_dims(shape), shape)
