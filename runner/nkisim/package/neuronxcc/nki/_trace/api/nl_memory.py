"""nl: moving tensors between HBM and the chip, casts, views."""

import math

from .. import checks, context, host, scope
from ..affine import Aff, Atom
from ..assign import check_value
from ..checks import dtype_or, need_dtype
from ..conditions import Cond
from ..context import fail
from ..emit import emit_map, new_tile, out_tile
from ..formats import FORMATS
from ..limits import SBUF_BYTES
from ..names import api
from ..shapes import broadcast_shapes
from ..tensor import Tensor, method
from .nl_create import parse_shape


def hbm_source(src, name, what):
    """An HBM view with at least two axes: a vector becomes one value a partition."""
    checks.require_tensor(src, name, what)
    scope.check_alive(src)
    if src.buffer_.on_chip:
        fail(
            "WRONG_MEMORY",
            f"{name}: expected {what} in hbm, got {src.memory}",
            operands=[(what, src)],
            rule=f"{name} moves data from HBM",
            fix="the tile is on chip already: use it directly, or nl.copy",
            official="unsupported_memory",
        )
    whole = src.is_whole
    if src.ndim == 1:
        checks.check_vector(name, what, src)
    while src.ndim < 2:
        src = src.expand_dims(src.ndim)
    if src.ndim >= 4 and whole and (src.shape[0] > 128 or src.dtype.size * math.prod(src.shape[1:]) > SBUF_BYTES):
        fail(
            "RANK_LAYOUT",
            f"{name}: the whole {src.ndim}-D tensor is loaded at once",
            operands=[(what, src)],
            rule="the leading axis becomes the partition axis (at most 128), the rest lies in one partition (at most "
            "176 KiB)",
            fix="index it to a 2-D tile, e.g. x[n, c0:c0+128, h, :] inside loops over n and h",
            official="leading_dimension_of_tensor_must_be_partition",
        )
    checks.check_partition_axis(name, what, src)
    return src


@api("nl")
def load(src, *, mask=None, dtype=None):
    src = hbm_source(src, "nl.load", "src")
    if src.shape[0] > 1 and src.dyn is None and not any(dim.slots[0] for dim in src.dims):
        context.warn(
            "nl.load: the source stands still along the partitions; a compiler of a trn2 refused nisa.dma_copy so "
            "[NCC_IBCG901]: load one row and use row.broadcast_to(..)"
        )
    out = out_tile(src, dtype, "nl.load")
    return emit_map(out, [src], [], "load", "dma", mask, "nl.load")


@api("nl")
def load_transpose2d(src, *, mask=None, dtype=None):
    name = "nl.load_transpose2d"
    checks.require_tensor(src, name, "src")
    if src.buffer_.on_chip:
        hbm_source(src, name, "src")
    if src.ndim != 2:
        fail(
            "RANK_LAYOUT",
            f"{name}: src has rank {src.ndim}",
            operands=[("src", src)],
            rule="2-D only",
            fix="index the tensor to two axes",
            official="exceed_max_supported_dimension",
        )
    rows, columns = src.shape
    checks.check_partition_count(
        name,
        columns,
        operands=[("src", src)],
        rule="the second axis of src becomes the partition axis, at most 128",
        fix="loop over column tiles of 128",
    )
    items = checks.check_mask(mask, src.shape, name)
    shape = (columns, rows)
    out = out_tile(src, dtype, name, shape)
    return emit_map(out, [swap(src)], [], "load_transpose", "dma", swap_mask(items, shape), name)


def swap(tensor):
    """The transposed view of a 2-D tensor."""
    shape = (tensor.shape[1], tensor.shape[0])
    return Tensor(
        tensor.buffer_, [Aff(a.c, a.terms, (a.slots[1], a.slots[0]), shape) for a in tensor.dims], shape, tensor.dyn
    )


def swap_mask(items, shape):
    return tuple((kind, Aff(e.c, e.terms, (e.slots[1], e.slots[0]), shape)) for kind, e in items)


@api("nl")
def store(dst, value, *, mask=None):
    name = "nl.store"
    checks.require_tensor(dst, name, "dst")
    if dst.buffer_.on_chip:
        fail(
            "WRONG_MEMORY",
            f"{name}: expected dst in hbm, got {dst.memory}",
            operands=[("dst", dst)],
            rule="nl.store writes HBM",
            fix="assign on-chip tiles: t[...] = value",
            official="unsupported_memory",
        )
    checks.check_mutable(dst, name)
    reduced = isinstance(value, Tensor) and value.buffer_.root.all_reduce is not None
    if not reduced:
        check_value(value, name)
    dst = store_target(dst, value, name)
    checks.check_partition_axis(name, "dst", dst)
    mask = checks.check_mask(mask, dst.shape, name)
    if reduced:
        _store_reduced(dst, value, mask, name)
        return
    emit_map(dst, [value], [], "store", "dma", mask, name)


def _store_reduced(dst, value, mask, label):
    """The first program along the axes writes, the others accumulate: after the last one dst holds the reduction."""
    trace = context.current()
    root = value.buffer_.root
    reduction = name, axes = root.all_reduce
    if any(_moves_with(dim, axes) for dim in dst.dims):
        fail(
            "UNSUPPORTED_OP",
            f"{label}: the result of nl.all_reduce is stored at a place that depends on program_id({axes[0]}), which "
            "it reduces over",
            operands=[("dst", dst), ("value", value)],
            rule="programs run one after another here: all of them add to one place, which holds the reduction after "
            "the last one",
            fix="store to one place that is the same in every program, and let another kernel spread it",
        )
    first = trace.first_program(axes)
    root.all_reduce = None  # this store may read it, and no other call
    node = trace.open_if(first)
    for block, accumulate in ((node.then, None), (node.orelse, name)):
        region = trace.open_region("branch", block, node, first)
        emit_map(dst, [value], [], "store", "dma", mask, label, accumulate=accumulate)
        trace.close_region(region)
    root.all_reduce = reduction


def _moves_with(e, axes):
    return any(
        (atom.kind == Atom.PROGRAM_ID and atom.key in axes)
        or (atom.operand is not None and _moves_with(atom.operand, axes))
        for atom in e.terms
    )


def store_target(dst, value, name):
    """dst with the value's rank, checked to be as large."""
    while dst.ndim < 2:
        dst = dst.expand_dims(dst.ndim)
    if not isinstance(value, Tensor):
        return dst
    if dst.ndim > value.ndim:
        value.check_ranks(dst.shape)
    if dst.ndim < value.ndim and all(n == 1 for n in value.shape[dst.ndim :]):
        while dst.ndim < value.ndim:
            dst = dst.expand_dims(dst.ndim)
    if broadcast_shapes(value.shape, dst.shape) != dst.shape or value.shape[0] != dst.shape[0] or dst.ndim < value.ndim:
        partition = value.shape[0] != dst.shape[0]
        fail(
            "SHAPE_BROADCAST",
            f"{name}: a value of shape {list(value.shape)} does not fit a destination of shape {list(dst.shape)}",
            operands=[("dst", dst), ("value", value)],
            rule="dst[...] has the value's shape (an integer index drops its axis; use a slice of size 1 to keep it)",
            fix="index dst to the value's shape, e.g. out[i:i+1, :] for a (1, n) value",
            official="num_partition_mismatch" if partition else "store_dst_shape_smaller_than_other_shape",
        )
    return dst


@method
def astype(self, dtype, **_):
    return cast(self, need_dtype(dtype, "astype"))


def cast(src, dtype, mask=None, name="astype", memory="sbuf"):
    checks.check_tile(src, name, "src")
    out = new_tile(src.shape, dtype, memory, api=name)
    return emit_map(out, [src], [], "tensor_copy", "unknown", mask, name)


@api("nl")
def copy(src, *, mask=None, dtype=None):
    if not isinstance(src, Tensor):
        checks.require_tensor(src, "nl.copy", "src")
    return cast(src, dtype_or(src.dtype, dtype, "nl.copy"), mask, "nl.copy")


@api("nl", host=True)
def static_cast(arr, dtype):
    """Numbers and numpy arrays are cast on the host, as C casts them; tiles by a copy; an index stays an index."""
    name = "nl.static_cast"
    target = need_dtype(dtype, name)
    if isinstance(arr, Tensor):
        return cast(arr, target, None, name)
    if isinstance(arr, (Aff, Cond)):
        return arr
    if not hasattr(arr, "astype"):
        return target(arr)
    if target.name in FORMATS and target.dtype.kind == "V":
        return host.cast(arr, target)
    return arr.astype(target.dtype)


@api("nl")
def broadcast_to(src, *, shape):
    name = "nl.broadcast_to"
    checks.check_tile(src, name, "src")
    shape, _ = parse_shape(name, shape)
    view = src.broadcast_to(shape)
    checks.check_partition_axis(name, "shape", view, shape[0])
    out = new_tile(shape, src.dtype, api=name)
    return emit_map(
        out, [view], [], "partition_broadcast" if shape[0] != src.shape[0] else "tensor_copy", "unknown", None, name
    )


@api("nl")
def expand_dims(data, axis):
    checks.require_tensor(data, "nl.expand_dims", "data")
    return data.expand_dims(axis)
