"""Subscripts of tensors: basic (ints, slices, ds), advanced (index grids), indirect (a tile as an index).

A subscript gives each axis of the view an index over the axes of the result; the new view is the old one with those put
in the place of its slots. So views of views need no case of their own, and bounds are proved once, at the access, on
what the buffer's own dimensions become."""

from . import context
from .affine import Aff, GridPart, as_int
from .checks import check_axes
from .conditions import Cond, always_holds
from .context import fail, warn
from .shapes import broadcast_shapes
from .tensor import Tensor, method


class DynSlice:
    """nl.ds(start, size)."""

    __slots__ = ("start", "size")

    def __init__(self, start, size):
        self.start, self.size = start, size

    def __repr__(self):
        return f"ds({self.start}, {self.size})"


class Grid:
    """What nl.mgrid[...] gives: components as .p .x .y .z and by unpacking; whole as a subscript it stands for them."""

    def __init__(self, parts):
        self._parts = parts
        for name, part in zip(("p", "x", "y", "z", "w"), parts):
            setattr(self, name, part)

    def __iter__(self):
        return iter(self._parts)

    def __len__(self):
        return len(self._parts)

    def __getitem__(self, k):
        return self._parts[k]


class OperandMask:
    """tile[i_f < n]: an operand of a matmul of which the condition leaves a part out ("operand masking", nki-mask).
    Matmuls alone take it; whatever else is asked of it says so."""

    __slots__ = ("masked_tile", "condition")

    def __init__(self, masked_tile, condition):
        self.masked_tile, self.condition = masked_tile, condition

    def __getattr__(self, _):
        _refuse_condition(self.masked_tile, self.condition)


def _refuse_condition(tensor, condition):
    fail(
        "INDEXING",
        f"{condition} is used as an index",
        operands=[("tensor", tensor)],
        kind=TypeError,
        rule="an index says where, a mask says whether: conditions on indices go to mask= of the call that reads or "
        "writes; operands of matmuls alone are masked so",
        fix="index with the grid itself and give the condition to the call: nl.load(x[i_p, i_f], mask=(i_p < n)); "
        "nisa.nc_matmul takes mask= too",
    )


@method
def as_tile(tensor):
    """The view itself: a public kernel that ran on Trn1 says so of index tiles; no document has it."""
    return tensor


@method
def __getitem__(tensor, key):
    if tensor.ndim < 2:
        check_axes(tensor)
    if isinstance(key, Cond) and tensor.ndim == 2 and tensor.buffer_.on_chip:
        if not all(always_holds(*item) for item in key.items):
            return OperandMask(tensor, key)
    key = key if isinstance(key, tuple) else (key,)
    key = tuple(part for k in key for part in (k if type(k) is Grid else (k,)))
    given = tensor.ndim if Ellipsis in [k for k in key if k is Ellipsis] else len(key)
    key = _expand(tensor, key)
    if any(type(k) is GridPart for k in key):
        tensor, key = _joined(tensor, key)
    advanced = [k for k in key if isinstance(k, Tensor) or (isinstance(k, Aff) and k.shape)]
    if not advanced:
        return _basic(tensor, key)
    if given < tensor.ndim:  # x[0, rows] of (2, n, 1), as a public kernel that ran on Trn1 has it: one place is left
        key = key[:given] + tuple(0 if n == 1 else k for k, n in zip(key[given:], tensor.shape[given:]))
    if any(isinstance(k, (slice, DynSlice)) for k in key):
        mixed = next(k for k in key if isinstance(k, (slice, DynSlice)))
        fail(
            "INDEXING",
            f"basic index {_show(mixed)} is mixed with an index grid",
            operands=[("tensor", tensor), ("grid", advanced[0])],
            rule="one subscript is either all slices and integers, or all index grids (scalars are legal in both)",
            fix="all slices: x[i*128:(i+1)*128, 0:512] - or all grids: x[i*128 + nl.arange(128)[:, None], "
            "nl.arange(512)[None, :]]",
            official="unsupported_mixing_basic_advanced_tensor_indexing",
        )
    return _advanced(tensor, key)


def _joined(tensor, key):
    """(tensor, key) with x[..., grid // q, grid % q, ...] as the grid over the two axes joined, from the right: what
    two axes make may be a part itself."""
    shape, out = list(tensor.shape), list(key)
    for axis in reversed(range(len(key) - 1)):
        if type(out[axis]) is GridPart and out[axis].sign == "//":
            index = out[axis].joined(out[axis + 1], shape[axis + 1])
            if index is None:
                out[axis].refuse()
            out[axis : axis + 2], shape[axis : axis + 2] = [index], [shape[axis] * shape[axis + 1]]
    for part in out:
        if type(part) is GridPart:
            part.refuse()
    return tensor.reshape(tuple(shape)), tuple(out)


def _show(k):
    if isinstance(k, slice):
        return f"'{'' if k.start is None else k.start}:{'' if k.stop is None else k.stop}'"
    return repr(k)


def _expand(tensor, key):
    if sum(1 for k in key if k is Ellipsis) > 1:
        fail("INDEXING", "a subscript has two ellipses", rule="at most one ...", fix="write one :")
    for k in key:
        if k is None:
            fail(
                "INDEXING",
                "a tensor is subscripted with None",
                operands=[("tensor", tensor)],
                rule="None belongs to nl.arange grids only",
                fix="tiles keep their rank: a reduction over the last axis has shape (p, 1); use "
                "tile.expand_dims(axis) or broadcast_to",
            )
        if isinstance(k, Cond):
            if len(key) == 1 and all(always_holds(*item) for item in k.items):
                return (
                    slice(None),
                ) * tensor.ndim  # a mask that leaves nothing out, as vendor's samples subscript with
            _refuse_condition(tensor, k)
    count = sum(1 for k in key if k is not Ellipsis)
    if count > tensor.ndim:
        fail(
            "INDEXING",
            f"{count} indices for a tensor of rank {tensor.ndim}",
            operands=[("tensor", tensor)],
            rule="one index a dimension",
            fix=f"use {tensor.ndim} indices",
            kind=IndexError,
        )
    if Ellipsis in [k for k in key if k is Ellipsis]:
        at = next(n for n, k in enumerate(key) if k is Ellipsis)
        return key[:at] + (slice(None),) * (tensor.ndim - count) + key[at + 1 :]
    return key + (slice(None),) * (tensor.ndim - len(key))


def _partition_axis(tensor):
    """The view axis that walks over partitions of an on-chip buffer; -1 for none.

    An integer there keeps its axis, with size 1: a tile has a partition axis, whatever is left of it. With one
    partition no axis moves along the dimension, and the place must be told by its neighbours."""
    buffer = tensor.buffer_
    if not buffer.on_chip:
        return -1
    for k, d in enumerate(tensor.dims[buffer.pdim].slots):
        if d:
            return k
    # One partition: right of the block axes, left of all free axes.
    free = [k for a in tensor.dims[buffer.pdim + 1 :] for k, d in enumerate(a.slots) if d]
    block = [k for a in tensor.dims[: buffer.pdim] for k, d in enumerate(a.slots) if d]
    first = max(block) + 1 if block else 0
    whole = len(buffer.shape) + buffer.folded == tensor.ndim
    return buffer.pdim + buffer.folded if whole and not block else min(first, min(free) if free else first)


def _basic(tensor, key):
    """Integers, slices and nl.ds: each axis of the result comes from one of the view's; integers drop theirs."""
    pieces = []  # (start Aff, step, size or None for a dropped axis)
    partition = _partition_axis(tensor)
    for axis, (k, n) in enumerate(zip(key, tensor.shape)):
        if isinstance(k, slice):
            pieces.append(_slice(tensor, axis, k, n))
        elif isinstance(k, DynSlice):
            pieces.append((_scalar(tensor, axis, k.start, n), 1, _ds_size(tensor, k)))
        else:
            start = _scalar(tensor, axis, k, n)
            pieces.append((start, 0, 1 if axis == partition else None))
        if axis == partition and pieces[-1][1] > 1:
            fail(
                "INDEXING",
                f"illegal partition step {pieces[-1][1]}",
                operands=[("tensor", tensor)],
                rule="partitions are taken without a stride",
                fix="move the stride to a free axis",
            )
    shape = tuple(p[2] for p in pieces if p[2] is not None)
    if tensor.buffer_.on_chip and len(shape) == 1:
        shape = shape + (1,)
    indices, axis = [], 0
    for start, step, size in pieces:
        slots = [0] * len(shape)
        if size is not None:
            slots[axis] = step if size > 1 else 0
            axis += 1
        indices.append(Aff(start.c, start.terms, tuple(slots), shape))
    _check_blocks(tensor, indices)
    return Tensor(
        tensor.buffer_, [a.substitute(indices, shape) for a in tensor.dims], shape, _moved(tensor, indices, shape)
    )


def _check_blocks(tensor, indices):
    """Axes that share a dimension of the buffer are checked here: the access proves the bounds of their sum alone."""
    buffer = tensor.buffer_
    for axis, (index, n) in enumerate(zip(indices, tensor.shape) if buffer.folded else ()):
        lo, hi = index.bounds()
        if (lo < 0 or hi >= n) and not any(a.slots[axis] for a in tensor.dims[buffer.pdim :]):
            fail(
                "OOB",
                f"index range [{lo}, {hi}] of axis {axis} exceeds its size of {n}",
                operands=[("tensor", tensor), ("index", index)],
                rule="block indices of a tensor of more than 8 axes stay inside, whatever the mask",
                fix="declare as many blocks as the loop has trips",
                official="tensor_access_out_of_bound",
            )


def _moved(tensor, indices, shape):
    """The index tile of an indirect view, subscripted as the view itself: it has the view's axes."""
    if tensor.dyn is None:
        return None
    dim, tile, skip = tensor.dyn
    dims = [a.substitute(indices, shape) for a in tile.broadcast_to(tensor.shape).dims]
    return dim, Tensor(tile.buffer_, dims, shape), skip


def _slice(tensor, axis, k, n):
    step = 1 if k.step is None else as_int(k.step)
    start = 0 if k.start is None else k.start
    stop = n if k.stop is None else k.stop
    if step is None or step <= 0:
        fail(
            "INDEXING",
            f"slice step {k.step} on axis {axis}",
            operands=[("tensor", tensor)],
            rule="steps are positive integers",
            fix="use a positive step, or an index grid c - nl.arange(n)",
        )
    a, b = as_int(start), as_int(stop)
    if a is not None and b is not None:
        if a < 0 or b < 0:
            fail(
                "INDEXING",
                f"negative slice bound {_show(k)} on axis {axis}",
                operands=[("tensor", tensor)],
                rule="bounds count from 0",
                fix=f"write {n} - k in place of -k",
            )
        if a < n < b:
            _clip(f"slice {_show(k)} of axis {axis} of {tensor} ends past its size of {n} and is clipped to {n - a}")
        b = min(b, n)
        size = max(0, -(-(b - a) // step))
        if size == 0:
            fail(
                "OOB" if a >= n else "INDEXING",
                f"slice {_show(k)} of axis {axis} with size {n} is empty",
                operands=[("tensor", tensor)],
                rule="a tile has at least one element on every axis",
                fix="check the loop's trip count",
                official="tensor_access_out_of_bound" if a >= n else "",
                kind=IndexError,
            )
        return Aff(a), step, size
    start, stop = _affine(tensor, axis, start), _affine(tensor, axis, stop)
    extent = stop - start
    if not extent.is_constant:
        fail(
            "INDEXING",
            f"slice {_show(k)} on axis {axis} has no constant size",
            operands=[("tensor", tensor)],
            rule="the size of a slice is a compile-time constant",
            fix="x[i*T:(i+1)*T], or nl.ds(start, size) with a mask for the last tile",
        )
    size = -(-extent.c // step)
    if size <= 0:
        fail(
            "INDEXING",
            f"slice {_show(k)} on axis {axis} is empty",
            operands=[("tensor", tensor)],
            rule="stop > start",
            fix="swap the bounds",
        )
    return start, step, size


def _clip(text):
    """What a compiler of 2.24 does with it no public trace shows. It is told, and again by the error that it leads
    to."""
    trace = context.current()
    warn(f"{text}; in a loop it would be out of bounds: write the size that is there")
    if trace is not None:
        trace.clipped = f"{text} (line {context.kernel_line()})"


def _affine(tensor, axis, value):
    if isinstance(value, Aff):
        return value
    number = as_int(value)
    if number is None:
        if isinstance(value, Tensor):
            fail(
                "INDEXING",
                f"a tile bounds a slice of axis {axis}",
                operands=[("tensor", tensor), ("bound", value)],
                rule="slices have compile-time bounds",
                fix="load with the tile as an index of axis 0: x[idx[i_p, 0], i_f]",
                official="copy_dynamic_indirect_indices_not_natively_supported",
            )
        fail(
            "INDEXING",
            f"{_host_value(value)} is used as an index of axis {axis}",
            operands=[("tensor", tensor)],
            rule="indices are integers, slices, nl.ds, nl.arange grids or loop variables",
            kind=TypeError,
            fix="use // for integer division"
            if isinstance(value, float)
            else "compute an integer, or a grid from nl.arange, and index with it",
        )
    return Aff(number)


def _host_value(value):
    shape = getattr(value, "shape", ())
    return f"an array {list(shape)} of the host" if shape else f"{value!r} ({type(value).__name__})"


def _scalar(tensor, axis, value, n):
    number = as_int(value) if not isinstance(value, Tensor) else None
    if number is not None and number < 0:
        fail(
            "INDEXING",
            f"negative index {number} on axis {axis}",
            operands=[("tensor", tensor)],
            rule="indices count from 0",
            fix=f"write {n + number} in place of {number}",
        )
    return _affine(tensor, axis, value)


def _ds_size(tensor, k):
    size = as_int(k.size)
    if size is None or size <= 0:
        fail(
            "INDEXING",
            f"nl.ds size {k.size} is not a positive integer",
            operands=[("tensor", tensor)],
            rule="the size of a slice is a compile-time constant",
            fix="nl.ds(start, size) with an integer size",
        )
    return size


def _advanced(tensor, key):
    """Index grids: their broadcast is the space of the result, whatever the axes of the view; scalars stand still in
    it."""
    shape, dyn = (), None
    for axis, k in enumerate(key):
        if isinstance(k, Tensor):
            dyn = _dynamic(tensor, axis, k, dyn)
        part = k.shape if isinstance(k, (Aff, Tensor)) else ()
        joined = broadcast_shapes(shape, tuple(part))
        if joined is None:
            fail(
                "INDEXING",
                f"index grids of shapes {list(shape)} and {list(part)} do not broadcast",
                operands=[("tensor", tensor)],
                rule="index grids of one subscript broadcast as numpy arrays do",
                fix="give each axis its own: nl.arange(p)[:, None], nl.arange(f)[None, :]",
            )
        shape = joined
    flat = next((k for k in key if isinstance(k, Aff) and len(k.shape) == 1), None)
    if len(shape) < 2 or flat is not None:
        fail(
            "INDEXING",
            "a 1-D arange is an index: its grid has one axis",
            operands=[("tensor", tensor), ("index", flat)],
            rule="index grids have at least two axes, partition first",
            fix="nl.arange(n)[:, None] for rows, nl.arange(n)[None, :] for columns",
            official="1d_arange_not_supported",
        )
    indices = []
    for axis, (k, n) in enumerate(zip(key, tensor.shape)):
        if isinstance(k, Tensor):
            indices.append(Aff(0, {}, (0,) * len(shape), shape))
        elif isinstance(k, Aff):
            indices.append(k.spread(shape))
        else:
            indices.append(_scalar(tensor, axis, k, n).spread(shape))
    _check_blocks(tensor, indices)
    moved = _moved(tensor, indices, shape)
    if dyn is not None:
        axis, tile = dyn
        dim = next((d for d, a in enumerate(tensor.dims) if a.slots and a.slots[axis]), axis)
        moved = (dim, tile.broadcast_to(shape), False)
    return Tensor(tensor.buffer_, [a.substitute(indices, shape) for a in tensor.dims], shape, moved)


def _dynamic(tensor, axis, tile, former):
    if former is not None or tensor.dyn is not None:
        fail(
            "INDEXING",
            "two index tiles in one subscript",
            operands=[("tensor", tensor)],
            rule="one dimension may be indirect",
            fix="compute one flat index",
            official="copy_dynamic_indirect_indices_not_natively_supported",
        )
    if not tile.dtype.is_integer:
        fail(
            "INDEXING",
            f"a {tile.dtype} tile is used as an index",
            operands=[("index", tile)],
            rule="index tiles hold integers",
            fix="cast it: idx = nl.copy(t, dtype=nl.int32)",
            kind=TypeError,
        )
    if not tile.buffer_.on_chip:
        fail(
            "WRONG_MEMORY",
            f"an index tile is in {tile.memory}",
            operands=[("index", tile)],
            rule="index tiles are in sbuf",
            fix="load it first: idx = nl.load(index[...])",
            official="unsupported_memory",
        )
    dense = [k for k, n in enumerate(tile.shape) if k and n > 1 and not any(d.slots[k] for d in tile.dims)]
    if not tensor.buffer_.on_chip and dense and tile.dyn is None:
        fail(
            "INDEXING",
            f"an index tile of shape {list(tile.shape)} repeats its values along axis {dense[0]}, as nl.mgrid makes it",
            operands=[("tensor", tensor), ("index", tile)],
            rule="one index a row: for indirect access nl.mgrid won't work",
            fix="i_p = nl.arange(p)[:, None]; i_f = nl.arange(f)[None, :]; x[idx[i_p, 0], i_f]",
            official="indirect_indices_free_dim",
        )
    if not tensor.buffer_.on_chip and axis == tensor.ndim - 1 and tensor.ndim > 1:
        fail(
            "INDEXING",
            f"axis {axis} is indexed by a tile",
            operands=[("tensor", tensor), ("index", tile)],
            rule="indirect indexing works on the partition or a block dimension, not on the free one",
            fix="index axis 0 with the tile, or select with masks and nl.where",
            official="indirect_indices_free_dim",
        )
    return axis, tile
