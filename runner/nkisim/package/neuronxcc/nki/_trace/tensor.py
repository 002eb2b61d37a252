"""The tensor that a kernel sees: a view of a buffer.

What a tensor does beyond being a view (subscripts, assignments, operators, casts) needs the layers above this one; each
gives tensors its methods itself, with `@method`."""

import math

from .affine import Aff, as_int
from .context import beyond_documents, fail
from .limits import PMAX
from .refusals import TensorRefusals
from .shapes import broadcast_shapes

# shape -> dims; (shape, larger shape) -> dims. Shared: views of whole tiles are told by identity, and encoded once.
_IDENTITY, _REPEATED = {}, {}


def identity_dims(shape):
    """Dims of a whole-buffer view: dimension k is slot k. One object a shape."""
    found = _IDENTITY.get(shape)
    if found is None:
        rank = len(shape)
        found = _IDENTITY[shape] = tuple(
            Aff(0, {}, tuple(1 if j == k and n > 1 else 0 for j in range(rank)), shape) for k, n in enumerate(shape)
        )
    return found


def repeated_dims(shape, larger):
    """Dims of a whole-buffer view over a space that it broadcasts to. One object a pair of shapes."""
    found = _REPEATED.get((shape, larger))
    if found is None:
        pad = len(larger) - len(shape)
        found = _REPEATED[shape, larger] = tuple(repeat(a, shape, larger, pad) for a in identity_dims(shape))
    return found


class Tensor(TensorRefusals):
    """A view: one Aff a buffer dimension over the axes of `shape`.

    `dyn` is (dimension, index tile, skip out of bounds) for indirect access. `mask` and `reduction` describe how the
    value was computed, so that `t[...] = value` can write through. `plain`: a whole on-chip tile, partition axis first,
    within 128 partitions: most checks of it are done."""

    __slots__ = ("buffer_", "dims", "shape", "dyn", "mask", "reduction", "plain")
    __hash__ = object.__hash__

    def __init__(self, buffer, dims, shape, dyn=None):
        self.buffer_, self.dims, self.shape, self.dyn = buffer, tuple(dims), tuple(shape), dyn
        self.mask = self.reduction = None
        self.plain = False

    @classmethod
    def whole(cls, buffer):
        shape = buffer.shape
        out = cls(buffer, identity_dims(shape), shape)
        out.plain = buffer.on_chip and buffer.pdim == 0 and len(shape) > 1 and shape[0] <= PMAX
        return out

    # -- facts
    @property
    def dtype(self):
        return self.buffer_.dtype

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def memory(self):
        return self.buffer_.memory

    @property
    def buffer(self):
        return self.buffer_.memory

    @property
    def name(self):
        return self.buffer_.name

    @property
    def size(self):
        return math.prod(self.shape)

    @property
    def itemsize(self):
        return self.dtype.size

    def assert_shape(self, shape):
        """The tensor itself. @raises annotation_shape_mismatch"""
        if tuple(shape) != tuple(self.shape):
            fail(
                "RANK_LAYOUT",
                f"assert_shape says {list(shape)}, the tensor has {list(self.shape)}",
                operands=[("tensor", self)],
                rule="the shape that is asserted is the tensor's",
                fix="correct the shape or the indices",
                official="annotation_shape_mismatch",
            )
        return self

    @property
    def is_whole(self):
        whole = identity_dims(self.buffer_.shape)
        return (
            self.dyn is None
            and self.shape == self.buffer_.shape
            and (self.dims is whole or all(a.same(b) for a, b in zip(self.dims, whole)))
        )

    def same_place(self, other):
        return (
            self.buffer_ is other.buffer_
            and self.shape == other.shape
            and self.dyn is None
            and other.dyn is None
            and all(a.same(b) for a, b in zip(self.dims, other.dims))
        )

    def __len__(self):
        return self.shape[0] if self.shape else 0

    def __pos__(self):
        return self

    def __repr__(self):
        return f"{self.buffer_.name or 'tensor'} {list(self.shape)} {self.dtype} in {self.memory}"

    # -- views
    def broadcast_to(self, shape, *more):
        shape = shape_argument(shape, more)
        if not self.buffer_.on_chip and shape != self.shape:  # recorded on a trn2
            fail(
                "WRONG_MEMORY",
                f"broadcast_to: expected the tile in sbuf or psum, got {self.memory}",
                operands=[("tensor", self), ("shape", list(shape))],
                rule="tiles on chip are repeated; DMA has no pattern for it",
                fix=f"tile = nl.load({self.name or 'x'}[...]) first, then tile.broadcast_to({shape})",
                official="unsupported_memory",
            )
        if broadcast_shapes(self.shape, shape) != shape:
            fail(
                "SHAPE_BROADCAST",
                f"broadcast_to: {list(self.shape)} does not broadcast to {list(shape)}",
                operands=[("tile", self)],
                rule="axes are equal or 1",
                fix="give a shape whose axes match the tile's",
            )
        pad = len(shape) - len(self.shape)
        self.check_ranks(shape)
        return Tensor(self.buffer_, [repeat(a, self.shape, shape, pad) for a in self.dims], shape, self.dyn)

    def check_ranks(self, shape):
        """Numpy's rule lines axes up from the last one: of two ranks, the partition axis of a tile would meet a free
        one, and no instruction moves partitions. @raises SHAPE_BROADCAST"""
        buffer, pad = self.buffer_, len(shape) - self.ndim
        if pad > 0 and buffer.on_chip and self.ndim and self.shape[0] > 1 and self.dims[buffer.pdim].slots[0]:
            fail(
                "SHAPE_BROADCAST",
                f"a tile of shape {list(self.shape)} against {list(shape)}: its partition axis would meet axis {pad}",
                operands=[("tile", self), ("shape", list(shape))],
                rule="tiles of one call have one rank, their partition axes first; axes of size 1 repeat",
                fix="add the axes along which it repeats: tile.expand_dims(1) of (p, f) is (p, 1, f), "
                "tile.expand_dims(2) is (p, f, 1)",
            )

    def expand_dims(self, axis):
        if isinstance(axis, (tuple, list)):
            out, rank = self, self.ndim + len(axis)
            for k in sorted(a + rank if a < 0 else a for a in axis):
                out = out.expand_dims(k)
            return out
        rank = self.ndim + 1
        axis = axis + rank if axis < 0 else axis
        if self.buffer_.on_chip and axis == 0:
            fail(
                "RANK_LAYOUT",
                "expand_dims: axis 0 is the partition axis",
                operands=[("tile", self)],
                rule="axis 0 is the partition axis",
                fix="expand a free axis",
            )
        shape = self.shape[:axis] + (1,) + self.shape[axis:]
        dims = [Aff(a.c, a.terms, a.slots[:axis] + (0,) + a.slots[axis:], shape) for a in self.dims]
        return Tensor(self.buffer_, dims, shape, self.dyn)


def method(function):
    """Gives tensors a method of the function's name: for the layers above, while they are imported."""
    setattr(Tensor, function.__name__, function)
    return function


def repeat(aff, old_shape, new_shape, pad):
    """`aff` over a larger shape: axes of size 1 that grow get no slot."""
    slots = [0] * pad
    for n, d, m in zip(old_shape, aff.slots, new_shape[pad:]):
        slots.append(d if n == m else 0)
    return Aff(aff.c, aff.terms, tuple(slots), tuple(new_shape))


def shape_argument(shape, more):
    """The shape that a method was given as a tuple or as its arguments."""
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,) + tuple(more)
    out = []
    for n in shape:
        value = as_int(n)
        if isinstance(n, float) and n.is_integer():  # x.shape[0] / 2: kernels that ran on chips have it
            value = int(n)
            beyond_documents(
                "RANK_LAYOUT",
                f"a shape has {n}, a float; write // where a size is divided",
                "shapes are positive compile-time integers",
                fix="use integers from x.shape",
                kind=TypeError,
            )
        if value is None or value <= 0:
            fail(
                "RANK_LAYOUT",
                f"a shape has {n!r}",
                rule="shapes are positive compile-time integers",
                fix="use integers from x.shape",
                kind=TypeError,
            )
        out.append(value)
    return tuple(out)
