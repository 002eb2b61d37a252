"""nisa: matmul, transposes, DMA, version."""

from .. import checks, context, scope
from ..affine import Aff, as_int
from ..checks import need_dtype
from ..context import fail
from ..emit import emit_map, out_tile, spread
from ..names import REGISTRY, api
from ..shapes import broadcast_shapes
from ..tables import function_name
from ..tensor import Tensor
from .nisa_common import dge_mode, engine, engine_name, nc_version, oob_mode
from .matmul_mask import K, M, N, unmasked
from .nl_linear import emit_matmul, emit_transpose, on_sbuf


def _pair(label, name, values, tiles):
    """Two integers or indices."""
    if (
        not isinstance(values, (tuple, list))
        or len(values) != 2
        or any(as_int(v) is None and not isinstance(v, Aff) for v in values)
    ):
        fail(
            "BAD_SIGNATURE",
            f"{label}: {name} is {values!r}",
            operands=tiles,
            rule=f"{name} is a pair (rows, columns) of integers or affine expressions",
            fix=f"{name}=(0, 0)" if name == "tile_position" else f"{name}=(128, 128)",
        )
    return values


def _check_tile(label, position, size, tiles):
    """The requirements on tile_position and tile_size in the documents of nc_matmul."""
    operands = [("stationary", tiles[0]), ("moving", tiles[1])]
    both = [*_pair(label, "tile_position", position, operands), *_pair(label, "tile_size", size, operands)]
    numbers = [as_int(v) for v in both]
    moving = [n for v in both if isinstance(v, Aff) for n in (v.c, *v.terms.values())]
    if any(n % 32 for n in [*moving, *(n for n in numbers if n is not None)]):
        problem, rule, fix = "values that 32 does not divide", "all are multiples of 32", "tile_size=(64, 64)"
    elif numbers[2:] == [32, 32]:
        problem, rule = "tile_size (32, 32)", "on NeuronCore-v2 rows and columns are not both 32"
        fix = "tile_size=(64, 32) or (32, 64)"
    elif any(n is not None and not 0 < n <= 128 for n in numbers[2:]):
        problem, rule, fix = f"tile_size {size}", "the array has 128 rows and 128 columns", "tile_size=(128, 128)"
    elif any(n is not None and n < m for n, m in zip(numbers[2:], tiles[0].shape)):
        problem = f"tile_size {size} for a stationary tile of {list(tiles[0].shape)}"
        rule = "tile_size is at least the stationary tile's size"
        fix = f"tile_size={tuple(-(-n // 32) * 32 for n in tiles[0].shape[:2])}"
    else:
        return
    fail("MATMUL_LIMIT", f"{label}: {problem}", operands=operands, rule=rule, fix=fix)


@api("nisa")
def nc_matmul(
    stationary,
    moving,
    *,
    is_stationary_onezero=False,
    is_moving_onezero=False,
    is_transpose=False,
    tile_position=(),
    tile_size=(),
    mask=None,
):
    label = "nisa.nc_matmul"
    stationary, masked_stationary = unmasked(stationary, (K, M), label)
    moving, masked_moving = unmasked(moving, (K, N), label)
    masks = masked_stationary + masked_moving
    tiles = []
    for name, tile in (("stationary", stationary), ("moving", moving)):
        checks.require_tensor(tile, label, name)
        tiles.append(on_sbuf(tile, label, name, (("stationary", stationary), ("moving", moving))))
    if bool(tile_position) != bool(tile_size):
        fail(
            "BAD_SIGNATURE",
            f"{label}: tile_position and tile_size",
            rule="both or none are given",
            fix="leave both out",
        )
    if tile_position:
        _check_tile(label, tile_position, tile_size, tiles)
    if is_transpose:  # one operand is an identity: the values pass unchanged and keep their type
        out = emit_matmul(label, tiles[0], tiles[1], mask, dtype=tiles[1].dtype, operand_masks=masks)
        out.buffer_.from_transpose = True
        return out
    return emit_matmul(label, tiles[0], tiles[1], mask, operand_masks=masks)


@api("nisa")
def nc_transpose(data, *, mask=None, dtype=None, engine=engine.unknown):
    label = "nisa.nc_transpose"
    checks.require_tensor(data, label, "data")
    where = engine_name(engine, label, ("tensor", "vector"))
    if where == "unknown":
        small = data.ndim == 2 and data.shape[0] <= 32 and data.shape[1] <= 32
        where = "vector" if small and data.memory == "psum" else "tensor"
    if where == "tensor" and data.memory == "psum" and not data.buffer_.from_transpose:
        checks.check_tile(data, label, "data", ("sbuf",))
    return emit_transpose(label, data, where, mask, need_dtype(dtype, label) if dtype is not None else None)


def _beside(tensor, other):
    """`tensor` over the axes of `other` where both have the same elements in the same order and differ in axes of size
    1 alone, which say nothing of a copy: a column and a row of HBM, (p, f, 1) and (p, f)."""
    kept = [n for n in tensor.shape if n != 1]
    if tensor.shape == other.shape or tensor.dyn is not None or kept != [n for n in other.shape if n != 1]:
        return tensor
    old = (k for k, n in enumerate(tensor.shape) if n != 1)
    axes = [next(old) if n != 1 else None for n in other.shape]
    return Tensor(
        tensor.buffer_,
        [Aff(d.c, d.terms, tuple(0 if a is None else d.slots[a] for a in axes), other.shape) for d in tensor.dims],
        other.shape,
    )


def _check_no_broadcast(label, dst, src):
    """A compiler of a trn2 refused it from HBM and from SBUF alike: NCC_IBCG901, "does not support broadcast
    patterns"."""
    view = spread(src, dst.shape)
    for axis, n in enumerate(dst.shape):
        moves = any(dim.slots[axis] for dim in view.dims) or view.dyn is not None
        if n > 1 and not moves:
            fail(
                "UNSUPPORTED_OP",
                f"{label}: src stands still along axis {axis}, where dst has {n} elements [NCC_IBCG901]",
                operands=[("dst", dst), ("src", src)],
                rule="the compiler's code generator has no broadcast pattern for DMA",
                fix="row = nl.load(x[0:1, :]), then row.broadcast_to((128, f)) where it is used, or nl.broadcast_to",
            )


def _skipping(tensor):
    """The view whose places out of bounds are left out."""
    if tensor.dyn is None:
        return tensor
    return Tensor(tensor.buffer_, tensor.dims, tensor.shape, (*tensor.dyn[:2], True))


def _check_descriptors(label, mode):
    if getattr(mode, "name", mode) in ("hwdge", 2) and context.current().options.target == "trn1":
        fail(
            "UNSUPPORTED_OP",
            f"{label}: dge_mode hwdge",
            rule="descriptors are generated by hardware from NeuronCore-v3 on; trn1 has v2",
            fix="leave dge_mode out, or nisa.dge_mode.swdge",
        )


@api("nisa")
def dma_copy(*, dst, src, mask=None, dst_rmw_op=None, oob_mode=oob_mode.error, dge_mode=dge_mode.unknown):
    label = "nisa.dma_copy"
    for name, tensor in (("dst", dst), ("src", src)):
        checks.require_tensor(tensor, label, name)
        scope.check_alive(tensor)
        checks.check_axes(tensor)
        if tensor.memory == "psum":
            fail(
                "WRONG_MEMORY",
                f"{label}: {name} is in psum",
                operands=[("dst", dst), ("src", src)],
                rule="DMA moves between hbm and sbuf",
                fix="copy it to sbuf first",
                official="unsupported_memory",
            )
    checks.check_mutable(dst, label)
    given = (dst, src)
    dst, src = (_beside(dst, src), src) if dst.ndim < src.ndim else (dst, _beside(src, dst))
    if given[0].shape != given[1].shape and dst.shape == src.shape:  # a course's starter kernel does it (trn2)
        context.beyond_documents(
            "SHAPE_BROADCAST",
            f"{label}: dst {list(given[0].shape)} and src {list(given[1].shape)} differ in axes of size 1",
            "dst and src have one shape",
            operands=[("dst", given[0]), ("src", given[1])],
            fix="index both to the same shape, e.g. x.reshape((n, 1))",
            official="store_dst_shape_smaller_than_other_shape",
        )
    if dst.shape != src.shape and broadcast_shapes(src.shape, dst.shape) != dst.shape:
        fail(
            "SHAPE_BROADCAST",
            f"{label}: shapes differ",
            operands=[("dst", dst), ("src", src)],
            rule="dst and src have one shape",
            fix="index both to the same shape",
            official="store_dst_shape_smaller_than_other_shape",
        )
    _check_no_broadcast(label, dst, src)
    _check_descriptors(label, dge_mode)
    skip = getattr(oob_mode, "name", oob_mode) in ("skip", 1)
    accumulate = None
    if dst_rmw_op is not None:
        if function_name(dst_rmw_op) != "add":
            fail(
                "UNSUPPORTED_OP",
                f"{label}: dst_rmw_op={getattr(dst_rmw_op, '__name__', dst_rmw_op)}",
                rule="np.add only",
                fix="dst_rmw_op=np.add",
            )
        if skip:
            fail(
                "UNSUPPORTED_OP",
                f"{label}: dst_rmw_op beside oob_mode.skip",
                operands=[("dst", dst), ("src", src)],
                rule="with dst_rmw_op only oob_mode.error is allowed",
                fix="leave oob_mode out",
            )
        accumulate = "add"
    if skip:
        dst, src = _skipping(dst), _skipping(src)
    emit_map(dst, [src], [], "dma_copy", "dma", mask, label, accumulate=accumulate)


def _check_transposed_bytes(label, src):
    """Unit tests of SDK 2.24 transpose float32 from HBM; from SBUF a compiler of a trn2 broke on it (NCC_ISFV902), and
    later documents want 2 bytes everywhere."""
    if src.dtype.size <= 2:
        return
    if not src.buffer_.on_chip:
        context.warn(f"{label}: {src.dtype}; later documents want types of 2 bytes")
        return
    fail(
        "DTYPE",
        f"{label}: src is {src.dtype} in {src.memory} [NCC_ISFV902]",
        operands=[("src", src)],
        rule="the DMA engine transposes types of 2 bytes",
        fix="nisa.nc_transpose(tile) for float32, or nl.load_transpose2d(x[...]) from HBM",
    )


@api("nisa")
def dma_transpose(src, *, axes=None, dtype=None, mask=None, dge_mode=dge_mode.unknown):
    label = "nisa.dma_transpose"
    checks.require_tensor(src, label, "src")
    if axes is not None and context.current().options.sdk < (2, 26):
        fail(
            "BAD_SIGNATURE",
            f"{label}() got an unexpected keyword argument 'axes'",
            operands=[("src", src)],
            rule="axes= exists since SDK 2.26",
            fix="nisa.dma_transpose(src): 2-D [1,0], 3-D [2,1,0], 4-D [3,1,2,0]",
        )
    legal = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}
    order = tuple(axes) if axes is not None else legal.get(src.ndim)
    if order is None or legal.get(src.ndim) != order:
        fail(
            "RANK_LAYOUT",
            f"{label}: rank {src.ndim}" + ("" if order is None else f" with axes {order}"),
            operands=[("src", src)],
            rule="2-D [1,0], 3-D [2,1,0], 4-D [3,1,2,0]",
            fix="index the tensor to two axes",
        )
    _check_descriptors(label, dge_mode)
    _check_transposed_bytes(label, src)
    shape = tuple(src.shape[a] for a in order)
    checks.check_partition_axis(label, "src", src, shape[0])
    view = Tensor(
        src.buffer_, [Aff(a.c, a.terms, tuple(a.slots[k] for k in order), shape) for a in src.dims], shape, src.dyn
    )
    out = out_tile(src, dtype, label, shape)
    return emit_map(out, [view], [], "dma_transpose", "dma", None, label)


def get_nc_version():
    """Legal outside of kernels too: test files choose by it what they run."""
    return nc_version.gen2


REGISTRY["nisa"]["get_nc_version"] = get_nc_version
