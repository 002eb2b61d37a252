"""nl.matmul, nl.transpose and the pieces that nisa.nc_matmul and nc_transpose share."""

from .. import checks, context, dtypes
from ..affine import Aff
from ..checks import need_dtype
from ..context import fail
from ..emit import access, emit_map, emit_op, new_tile, whole_2d
from ..limits import MOVING_FMAX, PMAX, STATIONARY_FMAX
from ..names import api
from ..nodes import Op
from ..tensor import Tensor
from .matmul_mask import K, M, N, PLAIN_READINGS, READINGS, of_result, over_kmn, placed, unmasked
from .nl_memory import swap, swap_mask


def on_sbuf(tile, label, name, operands=()):
    """A matmul operand in sbuf. Results of nc_transpose are copied out of psum, as the compiler does."""
    checks.require_tensor(tile, label, name)
    if tile.memory == "psum" and tile.buffer_.from_transpose:
        checks.check_tile(tile, label, name)
        out = new_tile(tile.shape, tile.dtype, api=label)
        return emit_map(out, [tile], [], "tensor_copy", "unknown", (), label)
    checks.check_tile(tile, label, name, ("sbuf",), operands)
    return tile


def _check_types(label, operands):
    wide = {"float32", "tfloat32"}
    names = [t.dtype.name for _, t in operands]
    for argument, tile in operands:
        if tile.dtype.is_integer:
            fail(
                "DTYPE",
                f"{label}: {argument} is {tile.dtype}",
                operands=operands,
                rule="matmul takes fp8, bf16, fp16, tf32 or fp32 tiles",
                fix=f"cast it: nl.copy({argument}, dtype=nl.bfloat16)",
            )
    if (names[0] in wide) != (names[1] in wide):
        fail(
            "DTYPE",
            f"{label}: {names[0]} is multiplied with {names[1]}",
            operands=operands,
            rule="both operands are float32/tfloat32, or neither",
            fix=f"cast one: nl.copy({operands[1][0]}, dtype=nl.{names[0]})",
        )


def _check_sizes(label, stationary, moving):
    operands = [("stationary", stationary), ("moving", moving)]
    if stationary.shape[0] != moving.shape[0]:
        swapped = stationary.shape[1] == moving.shape[0]
        fail(
            "MATMUL_LAYOUT",
            f"{label}: contraction sizes differ, stationary has {stationary.shape[0]} partitions, moving "
            f"{moving.shape[0]}",
            operands=operands,
            rule="result = stationary^T @ moving: stationary is (K, M), moving is (K, N), K on partitions",
            fix=(
                "the left operand is not transposed: load it with nl.load_transpose2d, or use nl.matmul(x, y)"
                if swapped
                else "give both operands the same K on axis 0"
            ),
            official="num_partition_mismatch",
        )
    for argument, tile, limit, axis in (
        ("stationary", stationary, STATIONARY_FMAX, "M"),
        ("moving", moving, MOVING_FMAX, "N"),
    ):
        if tile.shape[1] > limit:
            fail(
                "MATMUL_LIMIT",
                f"{label}: free size {tile.shape[1]} of {argument} exceeds architecture limit of {limit}",
                operands=operands,
                rule=f"{argument} free axis at most nl.tile_size.gemm_{argument}_fmax = {limit}",
                fix=f"loop over {axis}: for j in nl.affine_range({-(-tile.shape[1] // limit)}): ... {argument}[:, "
                f"nl.ds(j * {limit}, {limit})]",
                official="size_of_dimension_exceed_arch_limit",
            )


def emit_matmul(label, stationary, moving, mask=None, dtype=dtypes.float32, x=None, operand_masks=()):
    """stationary^T @ moving in a new PSUM tile. Free axes count as one; the result keeps those of moving.

    x: the (M, K) operand of nl.matmul that `stationary` is the transpose of; masks index it. operand_masks: as
    matmul_mask.unmasked() gives them."""
    free = moving.shape[1:]
    sides = (
        ("stationary", stationary, (K, M)) if x is None else ("x", x, (M, K)),
        ("moving" if x is None else "y", moving, (K, N)),
    )
    stationary, moving = (whole_2d(t, label) if t.ndim > 2 else t for t in (stationary, moving))
    _check_sizes(label, stationary, moving)
    _check_types(label, [("stationary", stationary), ("moving", moving)])
    (k, m), n = stationary.shape, moving.shape[1]
    shape = (k, m, n)
    items = over_kmn(mask, shape, sides, READINGS if x is None else PLAIN_READINGS, label)
    items += placed(operand_masks, shape)
    out = new_tile((m, n), dtype, "psum", api=label)
    place = lambda tile, slots: Tensor(
        tile.buffer_,
        [Aff(a.c, a.terms, tuple(a.slots[s] if s is not None else 0 for s in slots), shape) for a in tile.dims],
        shape,
        tile.dyn,
    )
    lhs = access(place(stationary, (0, 1, None)), shape, items, label)
    rhs = access(place(moving, (0, None, 1)), shape, items, label)
    dst = access(place(out, (None, 0, 1)), shape, (), label, writes=True)
    if lhs.dyn is not None or rhs.dyn is not None:
        fail(
            "INDEXING",
            f"{label}: an indirect operand",
            rule="matmul operands take compile-time indices",
            fix="load the rows first",
        )
    emit_op(Op.MATMUL, "matmul", "tensor", shape, items, dst, accumulate=0, extra=(lhs, rhs))
    if len(free) > 1:
        return out.reshape((m,) + free)
    out.mask = of_result(items, out.shape) or None
    return out


def emit_transpose(label, data, engine, mask=None, dtype=None):
    """(p, f) -> (f, p) in PSUM (tensor engine) or sbuf (vector engine)."""
    checks.check_tile(data, label, "data")
    if data.ndim > 2 and label == "nisa.nc_transpose" and mask is None:
        data = whole_2d(data, label)  # the instruction counts free axes as one
    if data.ndim != 2:
        fail(
            "RANK_LAYOUT",
            f"{label}: data has rank {data.ndim}",
            operands=[("data", data)],
            rule="2-D tiles only",
            fix="index or reshape the tile to (p, f)",
            official="exceed_max_supported_dimension",
        )
    p, f = data.shape
    if max(p, f) > PMAX:
        fail(
            "RANK_LAYOUT",
            f"{label}: size {f if f > PMAX else p} exceeds {PMAX}",
            operands=[("data", data)],
            rule=f"a transposed tile is at most {PMAX} x {PMAX}: its free axis becomes the partition axis",
            fix="transpose 128 columns at a time: nl.transpose(t[:, j*128:(j+1)*128])",
            official="size_of_dimension_exceed_arch_limit",
            kind=ValueError,
        )
    if engine == "vector" and max(p, f) > 32:  # search traces on Trn1 do it, and were right
        context.beyond_documents(
            "UNSUPPORTED_OP",
            f"{label}: {p} x {f} on the vector engine",
            "the vector engine transposes up to 32 x 32",
            operands=[("data", data)],
            fix="engine=nisa.tensor_engine",
            official="size_of_dimension_exceed_arch_limit",
            kind=ValueError,
        )
    if engine != "vector" and context.current().direct_allocation:
        fail(
            "UNSUPPORTED_OP",
            f"{label}: a transpose on the tensor engine beside direct allocation",
            operands=[("data", data)],
            rule="a kernel that allocates by hand has no room for the identity that the transpose multiplies with",
            fix="nisa.nc_matmul(data, identity, is_transpose=True) with an identity of your own, or nl.matmul(..., "
            "transpose_x=True)",
            official="transpose_on_tensor_engine_not_allowed_in_allocated_kernel",
        )
    items = checks.check_mask(mask, data.shape, label)
    out = new_tile((f, p), dtype or data.dtype, "sbuf" if engine == "vector" else "psum", api=label)
    out.buffer_.from_transpose = True
    return emit_map(
        out,
        [swap(data)],
        [],
        "transpose",
        "vector" if engine == "vector" else "tensor",
        swap_mask(items, (f, p)),
        label,
    )


@api("nl")
def transpose(x, *, dtype=None, mask=None):
    return emit_transpose(
        "nl.transpose", x, "tensor", mask, need_dtype(dtype, "nl.transpose") if dtype is not None else None
    )


@api("nl")
def matmul(x, y, *, transpose_x=False, mask=None):
    label = "nl.matmul"
    x, masked_x = unmasked(x, (K, M) if transpose_x else (M, K), label)
    y, masked_y = unmasked(y, (K, N), label)
    masks = masked_x + masked_y
    x = on_sbuf(x, label, "x")
    y = on_sbuf(y, label, "y")
    if transpose_x:
        return emit_matmul(label, x, y, mask, operand_masks=masks)
    operands = [("x", x), ("y", y)]
    if x.ndim == 2 and x.shape[1] > 128:
        fail(
            "PARTITION_LIMIT",
            f"{label}: contraction size {x.shape[1]} exceeds architecture limit of 128",
            operands=operands,
            rule="K (the free axis of x) lies on the partitions of both operands, at most 128 a call",
            fix="loop over K in tiles of 128 and accumulate in PSUM: acc += nl.matmul(x_k, y_k) with acc = "
            "nl.zeros((m, n), dtype=nl.float32, buffer=nl.psum)",
            official="num_partition_exceed_arch_limit",
        )
    if x.ndim == 2 and y.ndim == 2 and x.shape[1] != y.shape[0]:
        hint = (
            "pass transpose_x=True: x is (K, M) already"
            if x.shape[0] == y.shape[0]
            else "give y the same K on axis 0 as x has on axis 1"
        )
        fail(
            "MATMUL_LAYOUT",
            f"{label}: x {list(x.shape)} @ y {list(y.shape)}, contraction sizes {x.shape[1]} and {y.shape[0]} differ",
            operands=operands,
            rule="x is (M, K), y is (K, N); with transpose_x=True x is (K, M)",
            fix=hint,
            official="num_partition_mismatch",
        )
    _check_types(label, operands)
    turned = emit_transpose(label, x, "tensor")
    return emit_matmul(label, on_sbuf(turned, label, "x"), y, mask, x=x, operand_masks=masks)
