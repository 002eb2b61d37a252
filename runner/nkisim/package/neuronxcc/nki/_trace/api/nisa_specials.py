"""nisa: the specials (runner/nkisim/specials/): statistics, the max8 family, stream shuffle."""

import math

from .. import checks, context, dtypes
from ..affine import Aff
from ..context import fail
from ..emit import access, emit_op, new_tile, out_tile, source_of, whole_2d
from ..limits import BN_STATS_FMAX
from ..names import api
from ..nodes import Op
from ..tables import SPECIAL
from ..tensor import Tensor


def _last_axis_view(tile, shape, label, writes=False):
    """A tile of (p, k) values at the points (p, 0, ..., j)."""
    rank = len(shape)
    dims = []
    for a in tile.dims:
        slots = [0] * rank
        slots[0], slots[-1] = a.slots[0], a.slots[-1]
        dims.append(Aff(a.c, a.terms, tuple(slots), shape))
    space = (shape[0],) + (1,) * (rank - 2) + (tile.shape[-1],)
    return access(Tensor(tile.buffer_, dims, space), space, (), label, writes)


def emit_special(label, name, data, outs, extra_sources=(), attributes=(), mask=None):
    """Emits the special `name` of numbers.def over `data`; runner/nkisim/specials/ has what each takes and does.

    outs: (tile, whole): over data's whole shape, or its last axis alone. extra_sources: tiles of (p, k) values."""
    shape = data.shape
    items = checks.whole_rows_mask(mask, shape, label, [("data", data)])
    sources = [source_of(data, shape, items, label)] + [_last_axis_view(t, shape, label) for t in extra_sources]
    targets = [
        access(t, shape, items, label, True) if t.shape == shape and whole else _last_axis_view(t, shape, label, True)
        for t, whole in outs
    ]
    emit_op(
        Op.SPECIAL,
        name,
        "vector",
        shape,
        items,
        None,
        sources,
        extra=(SPECIAL[name], targets, [float(a) for a in attributes]),
    )
    for tile, _ in outs if items else ():  # what is assigned from it is assigned where it ran
        tile.mask = tuple((kind, Aff(e.c, e.terms, (0,) * tile.ndim, tile.shape)) for kind, e in items)


def _row_tile(data, values, default, dtype, label):
    """A tile of `values` a partition of data's."""
    return new_tile((data.shape[0], values), checks.dtype_or(default, dtype, label), api=label)


def _free(tile):
    """Elements a partition."""
    return math.prod(tile.shape[1:])


@api("nisa")
def bn_stats(data, *, mask=None, dtype=None):
    label = "nisa.bn_stats"
    checks.check_tile(data, label, "data")
    if _free(data) > BN_STATS_FMAX:
        fail(
            "CAPACITY",
            f"{label}: {_free(data)} elements per partition",
            operands=[("data", data)],
            rule="at most nl.tile_size.bn_stats_fmax = 512",
            fix="call it on tiles of 512 and combine with nisa.bn_aggr",
            official="size_of_dimension_exceed_arch_limit",
        )
    out = _row_tile(data, 6, data.dtype, dtype, label)
    emit_special(label, "bn_stats", data, [(out, False)], mask=mask)
    return out


@api("nisa")
def bn_aggr(data, *, mask=None, dtype=None):
    label = "nisa.bn_aggr"
    checks.check_tile(data, label, "data")
    if _free(data) % 3:
        fail(
            "SHAPE_BROADCAST",
            f"{label}: {_free(data)} elements per partition",
            operands=[("data", data)],
            rule="a multiple of 3: (count, mean, variance*count)",
            fix="give it the concatenated results of nisa.bn_stats",
        )
    out = _row_tile(data, 2, data.dtype, dtype, label)
    emit_special(label, "bn_aggr", data, [(out, False)], mask=mask)
    return out


@api("nisa")
def max8(*, src, mask=None, dtype=None):
    label = "nisa.max8"
    checks.check_tile(src, label, "src")
    if not 8 <= _free(src) <= 16384:
        fail(
            "SHAPE_BROADCAST",
            f"{label}: {_free(src)} elements per partition",
            operands=[("src", src)],
            rule="8 to 16384 elements",
            fix="pad or split the tile",
        )
    out = _row_tile(src, 8, src.dtype, dtype, label)
    emit_special(label, "max8", src, [(out, False)], mask=mask)
    return out


def _eight(label, name, tile, data, most=3):
    """The tile as (p, 8). @param most axes that it may have: "up to 3-dimensional", said of vals"""
    checks.check_tile(tile, label, name)
    if tile.shape[0] != data.shape[0] or _free(tile) != 8 or tile.ndim > most:
        fail(
            "SHAPE_BROADCAST",
            f"{label}: {name} has shape {list(tile.shape)}",
            operands=[("data", data), (name, tile)],
            rule=f"{name} has {data.shape[0]} partitions and 8 elements in each, in at most {most} axes",
            fix="use the result of nisa.max8",
        )
    return whole_2d(tile, label) if tile.ndim > 2 else tile


@api("nisa")
def nc_find_index8(*, data, vals, mask=None, dtype=None):
    label = "nisa.nc_find_index8"
    checks.check_tile(data, label, "data")
    vals = _eight(label, "vals", vals, data)
    out = _row_tile(data, 8, dtypes.uint32, dtype, label)
    if out.dtype not in (dtypes.uint16, dtypes.uint32):
        fail(
            "DTYPE",
            f"{label}: dtype {out.dtype}",
            operands=[("data", data), ("vals", vals)],
            rule="places are uint16 or uint32",
            fix="leave dtype out (uint32); nl.copy(places, dtype=...) for another type",
        )
    emit_special(label, "find_index8", data, [(out, False)], [vals], mask=mask)
    return out


@api("nisa")
def nc_match_replace8(*, data, vals, imm, dst_idx=None, mask=None, dtype=None):
    label = "nisa.nc_match_replace8"
    checks.check_tile(data, label, "data")
    vals = _eight(label, "vals", vals, data)
    out = out_tile(data, dtype, label)
    outs = [(out, True)]
    if dst_idx is not None and context.current().options.sdk < (2, 25):
        fail(
            "BAD_SIGNATURE",
            f"{label}() got an unexpected keyword argument 'dst_idx'",
            operands=[("data", data)],
            rule="dst_idx= exists since SDK 2.25",
            fix="nisa.nc_find_index8(data=data, vals=vals)",
        )
    if dst_idx is not None:
        _eight(label, "dst_idx", dst_idx, data, most=2)
        outs.append((dst_idx, False))
    emit_special(label, "match_replace8", data, outs, [vals], [imm], mask)
    return out


@api("nisa")
def nc_stream_shuffle(src, dst, shuffle_mask, *, mask=None, dtype=None):
    label = "nisa.nc_stream_shuffle"
    checks.check_tile(src, label, "src")
    checks.check_tile(dst, label, "dst")
    entries = list(shuffle_mask)
    if len(entries) != 32 or any(not isinstance(e, int) or not (0 <= e < 32 or e == 255) for e in entries):
        fail(
            "BAD_SIGNATURE",
            f"{label}: shuffle_mask has {len(entries)} entries",
            rule="32 integers, each 0-31 or 255",
            fix="shuffle_mask=[0] * 32",
        )
    tiles = [("src", src), ("dst", dst)]
    checks.check_same_shape(label, tiles, "src and dst have one shape")
    if src.dtype is not dst.dtype:
        fail(
            "DTYPE",
            f"{label}: src is {src.dtype}, dst is {dst.dtype}",
            operands=tiles,
            rule="dst has the data type of src",
            fix=f"dst = nl.ndarray({tuple(src.shape)}, dtype=src.dtype); cast with nl.copy before or after",
        )
    if src.shape[0] % 32:
        fail(
            "PARTITION_LIMIT",
            f"{label}: {src.shape[0]} partitions",
            operands=tiles,
            rule="the mask moves rows within quadrants of 32 partitions: 32, 64, 96 or 128",
            fix="use tiles of 32, 64, 96 or 128 partitions",
        )
    emit_special(label, "stream_shuffle", src, [(dst, True)], (), entries, mask)
