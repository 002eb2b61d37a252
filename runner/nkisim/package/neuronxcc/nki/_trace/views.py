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
    """A reshape or dtype view: of a whole buffer, or of one of its blocks, x[b], it is that under another shape; of any
    other view, its elements in the same order."""
    check_alive(tensor)
    old, size = tensor.buffer_, math.prod(tensor.shape)
    if math.prod(shape) * dtype.size != size * old.dtype.size:
        fail(
            "SHAPE_BROADCAST",
            f"{api}: {list(tensor.shape)} has {size} elements, {list(shape)} has {math.prod(shape)}",
            operands=[("tensor", tensor)],
            rule="a reshape keeps the number of elements",
            fix="give a shape of the same size",
        )
    fixed = _fixed_axes(tensor)
    if fixed is None or fixed + len(shape) > MAX_RANK:
        return _regrouped(tensor, shape, api)
    if old.on_chip and (old.pdim != fixed or shape[0] != tensor.shape[0]):
        _fail_partitions(tensor, shape, api)
    buffer = _stand_in(old, old.shape[:fixed] + shape, dtype, fixed if old.on_chip else 0)
    if not fixed:
        return Tensor.whole(buffer)
    still = (0,) * len(shape)
    block = tuple(Aff(a.c, a.terms, still, shape) for a in tensor.dims[:fixed])
    return Tensor(buffer, block + identity_dims(shape), shape)


def _stand_in(old, shape, dtype, pdim):
    buffer = Buffer(old.kind, dtype, old.name, shape, pdim, old.memory, context.kernel_line(), old.region)
    buffer.stand_for(old)
    buffer.from_transpose = old.from_transpose
    context.current().keep_buffer(buffer)
    return buffer


def _fail_partitions(tensor, shape, api):
    fail(
        "RANK_LAYOUT",
        f"{api}: the partition axis of an on-chip tile would change from {list(tensor.shape)} to {list(shape)}",
        operands=[("tensor", tensor)],
        rule="reshape of a tile keeps axis 0 (partitions)",
        fix="reshape the HBM tensor before loading",
    )


def _regrouped(tensor, shape, api):
    """A reshape of a part of a tensor, where its axes split or join in place."""
    buffer = tensor.buffer_
    if buffer.on_chip and shape[0] != tensor.shape[0]:
        _fail_partitions(tensor, shape, api)
    flat = _over_flat_buffer(tensor)
    dims = [None] if flat is None else [_regroup(dim, tensor.shape, shape) for dim in flat.dims]
    if any(dim is None for dim in dims):
        fail(
            "RANK_LAYOUT",
            f"{api}: elements of the indexed tensor do not lie so that {list(shape)} is a view of them",
            operands=[("tensor", tensor)],
            rule=f"{api} of a part splits its axes, or joins axes whose elements follow one another",
            fix=f"{api} the whole tensor first, then index it",
            kind=NotImplementedError,
        )
    return Tensor(flat.buffer_, dims, shape)


def _over_flat_buffer(tensor):
    """The same view over a buffer whose free dimensions (in HBM: all) are one; None where a bound of one of them hangs
    on a mask, which the one dimension could not prove."""
    old = tensor.buffer_
    first = old.pdim + 1 if old.on_chip else 0
    within = all(0 <= low and high < n for (low, high), n in zip((a.bounds() for a in tensor.dims), old.shape))
    if tensor.dyn is not None or not within or old.folded:
        return None
    place = Aff(0, {}, (0,) * tensor.ndim, tensor.shape)
    for d in range(first, len(old.shape)):
        place = place.plus(tensor.dims[d], math.prod(old.shape[d + 1 :]))
    buffer = _stand_in(old, (*old.shape[:first], math.prod(old.shape[first:])), old.dtype, old.pdim)
    return Tensor(buffer, (*tensor.dims[:first], place), tensor.shape)


def _regroup(dim, old, new):
    """An index over the axes `new` in place of `old`, row-major; None where it is no sum over them.

    As numpy reshapes without a copy: axes fall into the smallest groups of one product on both sides; those of a group
    must follow one another on the old side, and the new ones share what its last axis walks by."""
    slots = [0] * len(new)
    for axes, group in _groups(
        [k for k, n in enumerate(old) if n > 1], old, [k for k, n in enumerate(new) if n > 1], new
    ):
        for outer, inner in zip(axes, axes[1:]):
            if dim.slots[outer] != old[inner] * dim.slots[inner]:
                return None
        step = dim.slots[axes[-1]]
        for k in reversed(group):
            slots[k], step = step, step * new[k]
    return Aff(dim.c, dim.terms, tuple(slots), new)


def _groups(left, old, right, new):
    """[(axes of old, axes of new)] whose sizes have one product, in order and as small as can be. @param left, right
    the axes that are longer than 1; the sizes of both sides have one product"""
    out = []
    while left:
        axes, group = [left.pop(0)], [right.pop(0)]
        here, there = old[axes[0]], new[group[0]]
        while here != there:
            if here < there:
                axes.append(left.pop(0))
                here *= old[axes[-1]]
            else:
                group.append(right.pop(0))
                there *= new[group[-1]]
        out.append((axes, group))
    return out
