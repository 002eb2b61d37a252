"""`t[...] = value` and `t += value`: writes through a view, in place."""

from . import checks
from .affine import Aff
from .context import fail
from .dtypes import DType
from .emit import emit_map, new_tile, partition_aligned
from .shapes import broadcast_shapes
from .tensor import Tensor, method


def check_destination(dst, api):
    if not dst.buffer_.on_chip:
        checks.check_mutable(dst, api)
        fail(
            "WRONG_MEMORY",
            f"{api}: expected the destination in sbuf or psum, got {dst.memory}",
            operands=[("destination", dst)],
            rule="assignment writes on-chip tiles; HBM is written by nl.store or nisa.dma_copy",
            fix=f"nl.store({dst.name or 'out'}[...], value=tile)",
            official="unsupported_memory",
        )
    checks.check_tile(dst, api, "destination")
    if dst.dyn is not None:
        fail(
            "INDEXING",
            f"{api}: an indirect destination",
            operands=[("destination", dst)],
            rule="on-chip tiles take compile-time indices here",
            fix="use nisa.tensor_copy_dynamic_dst",
            official="copy_dynamic_indirect_indices_not_natively_supported",
        )


def fit_value(dst, value, api):
    """The value over dst's shape; dst may be larger in free axes only."""
    if not isinstance(value, Tensor):
        return value
    if value.ndim != dst.ndim:
        value = _raised(value, dst.shape) if value.ndim < dst.ndim else _drop_ones(value, dst.ndim)
    if (
        broadcast_shapes(value.shape, dst.shape) != dst.shape
        or value.shape[0] != dst.shape[0]
        or value.ndim != dst.ndim
    ):
        partition = value.shape[0] != dst.shape[0]
        fail(
            "SHAPE_BROADCAST",
            f"{api}: a value of shape {list(value.shape)} does not fit a destination of shape {list(dst.shape)}",
            operands=[("destination", dst), ("value", value)],
            rule="the destination is at least as large; only free axes of size 1 repeat",
            fix="index the destination to the value's shape"
            if not partition
            else "give both the same partition count: index the destination's axis 0, or nl.broadcast_to the value",
            official="num_partition_mismatch" if partition else "store_dst_shape_smaller_than_other_shape",
        )
    return value


def _raised(value, shape):
    """The value with free axes of size 1 added: where its axes lie among those of `shape` is known when it has one
    value a partition, or all of the destination's axes but those of size 1."""
    if all(n == 1 for n in value.shape[1:]):
        return partition_aligned(value, len(shape))
    for axis in range(1, len(shape)):
        if shape[axis] == 1 and value.ndim < len(shape) and shape[:axis] == value.shape[:axis]:
            value = value.expand_dims(axis)
    return value


def _drop_ones(value, rank):
    """Trailing free axes of size 1 may be left out."""
    while value.ndim > rank and 1 in value.shape[1:]:
        axis = max(k for k in range(1, value.ndim) if value.shape[k] == 1)
        shape = value.shape[:axis] + value.shape[axis + 1 :]
        dims = [Aff(a.c, a.terms, a.slots[:axis] + a.slots[axis + 1 :], shape) for a in value.dims]
        value = Tensor(value.buffer_, dims, shape, value.dyn)
    return value


def check_value(value, api):
    if isinstance(value, Tensor):
        checks.check_tile(value, api, "value")
        return
    if isinstance(value, Aff):
        return
    checks.refuse_host_array(value, api, "the value")
    if not isinstance(value, (int, float)) and (isinstance(value, DType) or not hasattr(value, "dtype")):
        fail(
            "BAD_SIGNATURE",
            f"{api}: the value is {type(value).__name__}",
            operands=[("value", value)],
            rule="tiles and numbers are assigned",
            fix="assign the result of an nl or nisa call",
        )


def _mask_of(value, dst):
    """The mask under which the value was computed, while that is all that was written to it."""
    if isinstance(value, Tensor) and value.mask and value.shape == dst.shape and value.buffer_.root.writes == 1:
        return value.mask
    return ()


def _detached(value, dst, api):
    """A value that overlaps the destination elsewhere is read whole before anything is written."""
    if isinstance(value, Tensor) and value.buffer_.root is dst.buffer_.root and not dst.same_place(value):
        return emit_map(new_tile(value.shape, value.dtype, api=api), [value], [], "tensor_copy", api=api)
    return value


@method
def __setitem__(tensor, key, value):
    assign(tensor[key], value)


def assign(dst, value):
    api = "assignment"
    if isinstance(value, Tensor) and dst.same_place(value):
        return  # the end of `t[k] += x`
    check_destination(dst, api)
    check_value(value, api)
    mask = _mask_of(value, dst)
    reduction = value.reduction if isinstance(value, Tensor) else None
    value = fit_value(dst, _detached(value, dst, api), api)
    if reduction is not None:
        name, loops = reduction
        emit_map(dst, [value], [], "part_of_former", mask=mask, api=api, accumulate=name, loops=loops)
        return
    instr = "tensor_copy" if isinstance(value, Tensor) else "memset"
    emit_map(dst, [value], [], instr, mask=mask, api=api)


def update(dst, name, value):
    """dst = dst op value, in place."""
    api = {"add": "+=", "subtract": "-=", "multiply": "*=", "divide": "/="}[name]
    check_destination(dst, api)
    check_value(value, api)
    mask = _mask_of(value, dst)
    value = fit_value(dst, _detached(value, dst, api), api)
    instr = "tensor_tensor" if isinstance(value, Tensor) else "tensor_scalar"
    if name == "subtract":  # an accumulation is associative: dst += -value
        emit_map(dst, [value], [("negative", 0)], instr, mask=mask, api=api, accumulate="add")
    elif name == "divide":
        emit_map(dst, [dst, value], [("divide", 0, 1)], instr, mask=mask, api=api)
    else:
        emit_map(dst, [value], [], instr, mask=mask, api=api, accumulate=name)
    return dst
