"""Access on chip by values: gather_flattened, local_gather, copies with a dynamic offset, atomic_rmw, device_print."""

from .. import checks, scope
from ..affine import Aff, as_int
from ..conditions import Cond
from ..context import fail
from ..emit import access, emit_map, emit_op, new_tile, out_tile, whole_2d
from ..names import api
from ..nodes import Op
from ..tables import WORK_RAW, function_name
from ..tensor import Tensor
from .nisa_common import copy_work, engine, engine_of
from .nl_memory import store_target

_COPIERS = ("vector", "scalar", "gpsimd")


def _index_tile(label, name, tile):
    checks.check_tile(tile, label, name)
    if not tile.dtype.is_integer:
        fail(
            "DTYPE",
            f"{label}: {name} is {tile.dtype}",
            operands=[(name, tile)],
            rule="index tiles hold integers",
            fix="cast it: nl.copy(idx, dtype=nl.uint32)",
        )


@api("nl")
def gather_flattened(data, indices, *, mask=None, dtype=None):
    label = "nl.gather_flattened"
    checks.check_tile(data, label, "data")
    _index_tile(label, "indices", indices)
    operands = [("data", data), ("indices", indices)]
    if data.shape[0] != indices.shape[0]:
        fail(
            "SHAPE_BROADCAST",
            f"{label}: {data.shape[0]} and {indices.shape[0]} partitions",
            operands=operands,
            rule="each partition gathers from its own row",
            fix="give both tiles the same axis 0",
            official="num_partition_mismatch",
        )
    flat, shape = whole_2d(data, label), indices.shape
    row = Aff(0, {}, (1 if shape[0] > 1 else 0,) + (0,) * (len(shape) - 1), shape)
    view = Tensor(flat.buffer_, (row, Aff(0, {}, (0,) * len(shape), shape)), shape, (1, indices, False))
    out = out_tile(data, dtype, label, shape)
    return emit_map(out, [view], [], "local_gather", "gpsimd", mask, label)


@api("nisa")
def local_gather(src_buffer, index, num_elem_per_idx=1, num_valid_indices=None, *, mask=None):
    label = "nisa.local_gather"
    checks.check_tile(src_buffer, label, "src_buffer", ("sbuf",))
    checks.check_tile(index, label, "index", ("sbuf",))
    operands = [("src_buffer", src_buffer), ("index", index)]
    if index.dtype.name != "uint16":
        fail(
            "DTYPE",
            f"{label}: index is {index.dtype}",
            operands=operands,
            rule="index is uint16",
            fix="nl.copy(index, dtype=nl.uint16)",
        )
    partitions, elements = src_buffer.shape[0], as_int(num_elem_per_idx)
    if partitions % 16 or index.shape[0] != partitions:
        fail(
            "SHAPE_BROADCAST",
            f"{label}: {partitions} partitions of data, {index.shape[0]} of indices",
            operands=operands,
            rule="both have the same partitions, a multiple of 16: each GpSimd core owns 16",
            fix="use tiles of 16, 32, 64 or 128 partitions",
            official="num_partition_mismatch",
        )
    if elements not in (1, 2, 4, 8, 16, 32):
        fail(
            "BAD_SIGNATURE",
            f"{label}: num_elem_per_idx is {num_elem_per_idx}",
            operands=operands,
            rule="1, 2, 4, 8, 16 or 32",
            fix="num_elem_per_idx=1",
            kind=ValueError,
        )
    flat_index, data = whole_2d(index, label), whole_2d(src_buffer, label)
    most = 16 * flat_index.shape[1]
    valid = most if num_valid_indices is None else as_int(num_valid_indices)
    if valid is None or not 0 < valid <= min(most, 4096):
        fail(
            "BAD_SIGNATURE",
            f"{label}: num_valid_indices is {num_valid_indices}",
            operands=operands,
            rule=f"1 to {min(most, 4096)}: 16 partitions of indices, at most 4096 a core",
            fix=f"num_valid_indices={min(most, 4096)}",
            kind=ValueError,
        )
    if checks.whole_rows_mask(mask, src_buffer.shape, label, operands):
        fail(
            "UNSUPPORTED_OP",
            f"{label}: a mask is not in this version of the simulator",
            operands=operands,
            rule="no mask",
            fix="gather whole tiles",
        )
    return _gather_groups(label, data, flat_index, elements, valid)


def _gather_groups(label, data, index, elements, valid):
    """Indices of a core run down its 16 partitions, then along the free axis."""
    columns, rest = divmod(valid, 16)
    shape = (data.shape[0],) + ((columns, 16) if not rest else (valid,)) + (elements,)
    out = new_tile(shape, data.dtype, api=label)
    flat = whole_2d(out, label)
    blocks = [(0, columns, 16)] if columns else []
    blocks += [(columns, 1, rest)] if rest else []
    for first, count, lanes in blocks:
        space = (data.shape[0] // 16, 16, count, lanes, elements)
        at = lambda c, *slots, space=space: Aff(c, {}, tuple(s if n > 1 else 0 for s, n in zip(slots, space)), space)
        rows = at(0, 16, 1, 0, 0, 0)
        # every core reaches its own 16 partitions only: the lanes' rule of partition starts does not hold, bounds are
        # checked when run
        always = ((Cond.NOT_NEGATIVE, at(0, 0, 0, 0, 0, 0)),)
        picks = Tensor(index.buffer_, (at(0, 16, 0, 0, 1, 0), at(first, 0, 0, 1, 0, 0)), space)
        source = Tensor(data.buffer_, (rows, at(0, 0, 0, 0, 0, 1)), space, (1, picks, False))
        target = Tensor(flat.buffer_, (rows, at(first * 16 * elements, 0, 0, 16 * elements, elements, 1)), space)
        emit_op(
            Op.MAP,
            "local_gather",
            "gpsimd",
            space,
            always,
            access(target, space, always, label, True, dma=True),
            [access(source, space, always, label, dma=True)],
            [],
            WORK_RAW,
        )
    return out


def _dynamic(label, name, tensor):
    checks.require_tensor(tensor, label, name)
    scope.check_alive(tensor)
    if not tensor.buffer_.on_chip:
        checks.check_tile(tensor, label, name)
    checks.check_partition_first(tensor, label, name)
    if tensor.dyn is not None and tensor.dyn[0] <= tensor.buffer_.pdim:
        fail(
            "INDEXING",
            f"{label}: the dynamic offset of {name} is on the partition axis",
            operands=[(name, tensor)],
            rule="the offset moves within each partition: it belongs to a free axis",
            fix=f"{name}[i_p, offset + i_f]",
        )


@api("nisa")
def tensor_copy_dynamic_src(src, *, mask=None, dtype=None, engine=engine.unknown):
    label = "nisa.tensor_copy_dynamic_src"
    _dynamic(label, "src", src)
    where = engine_of(engine, label, _COPIERS, [("src", src)])
    out = out_tile(src, dtype, label)
    return emit_map(out, [src], [], "tensor_copy", where, mask, label, work=copy_work(src, where))


@api("nisa")
def tensor_copy_dynamic_dst(*, dst, src, mask=None, dtype=None, engine=engine.unknown):
    label = "nisa.tensor_copy_dynamic_dst"
    _dynamic(label, "dst", dst)
    checks.check_tile(src, label, "src")
    tiles = [("dst", dst), ("src", src)]
    checks.check_same_shape(label, tiles, "index dst to the shape of src")
    where = engine_of(engine, label, _COPIERS, tiles)
    emit_map(dst, [src], [], "tensor_copy", where, mask, label, work=copy_work(src, where))


@api("nl")
def atomic_rmw(dst, value, op, *, mask=None):
    label = "nl.atomic_rmw"
    checks.require_tensor(dst, label, "dst")
    if dst.buffer_.on_chip:
        fail(
            "WRONG_MEMORY",
            f"{label}: expected dst in hbm, got {dst.memory}",
            operands=[("dst", dst)],
            rule=f"{label} updates HBM",
            fix="on-chip tiles: t[...] += value",
            official="unsupported_memory",
        )
    if function_name(op) != "add":
        fail(
            "UNSUPPORTED_OP",
            f"{label}: op={getattr(op, '__name__', op)}",
            operands=[("dst", dst)],
            rule="op is np.add",
            fix="op=np.add",
        )
    if dst.dyn is None:
        fail(
            "INDEXING",
            f"{label}: dst is not indexed by a tile",
            operands=[("dst", dst)],
            rule='"only supports indirect dynamic indexing currently"',
            fix="dst[idx[i_p, 0], i_f] with idx an integer tile; at places known when compiling nl.load, nl.add and "
            "nl.store in nl.sequential_range",
        )
    checks.check_mutable(dst, label)
    checks.check_tile(value, label, "value")
    dst = store_target(dst, value, label)
    emit_map(dst, [value], [], "store", "dma", checks.check_mask(mask, dst.shape, label), label, accumulate="add")


@api("nl")
def device_print(prefix, x, *, mask=None):
    """Accepted and not executed: a program has no output but its tensors."""
    label = "nl.device_print"
    checks.require_tensor(x, label, "x") if not isinstance(x, (int, float, Aff)) else None
    if isinstance(x, Tensor):
        scope.check_alive(x)
        checks.check_mask(mask, x.shape, label)
