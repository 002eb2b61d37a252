"""From tensors to nodes: accesses over an operation's space with bounds checked, temporaries, maps and folds."""

import math

from . import checks, context, scope
from .affine import Aff
from .bounds import check_bounds, check_partitions
from .capacity import check_partition_bytes
from .context import fail
from .nodes import NO_FUNCTION, Access, Buffer, Op
from .shapes import broadcast_shapes
from .tables import BITWISE, COMPARISONS, EXACT_INTEGER, FN, LOGICAL, WORK_F32, WORK_I32, WORK_RAW
from .tensor import Tensor, identity_dims, repeat, repeated_dims
from .views import alias


def spread(tensor, shape):
    """`tensor` over the operation's space (axes right-aligned, size-1 axes repeated)."""
    if tensor.shape == shape:
        return tensor
    pad = len(shape) - tensor.ndim
    tensor.check_ranks(shape)
    dims = [repeat(a, tensor.shape, shape, pad) for a in tensor.dims]
    dyn = tensor.dyn
    if dyn is not None:
        dyn = (dyn[0], spread(dyn[1], shape), dyn[2])
    return Tensor(tensor.buffer_, dims, shape, dyn)


def partition_aligned(tensor, rank):
    """A tile with size-1 free axes added at the end, so that axis 0 stays the partition axis."""
    while tensor.ndim < rank:
        tensor = tensor.expand_dims(tensor.ndim)
    return tensor


def access(tensor, shape, mask=(), api="", writes=False, dma=False):
    """The access of a tensor over `shape`; proves its bounds or leaves masked ones to the run-time check.

    dma: engines' rule of partition starts does not hold for DMA."""
    buffer, shape = tensor.buffer_, tuple(shape)
    if tensor.dims is identity_dims(buffer.shape) and buffer.root.region.open:  # a whole tensor: nothing to prove
        if writes:
            _mark_written(tensor, api)
        if shape == buffer.shape:
            return Access(buffer, tensor.dims)
        tensor.check_ranks(shape)
        return Access(buffer, repeated_dims(buffer.shape, shape))
    scope.check_alive(tensor)
    tensor = spread(tensor, shape)
    for dim, (aff, size) in enumerate(zip(tensor.dims, buffer.shape)):
        if tensor.dyn is not None and tensor.dyn[0] == dim:
            continue
        check_bounds(tensor, dim, aff, size, mask, shape, api)
    if buffer.on_chip and not dma:
        conditional = bool(mask) or any(r.kind == "branch" for r in context.current().enclosing())
        check_partitions(tensor, tensor.dims[buffer.pdim], shape, api, conditional)
    dyn = None
    if tensor.dyn is not None:
        dim, tile, skip = tensor.dyn
        dyn = (dim, access(tile, shape, mask, api, dma=True), skip)
    if writes:
        _mark_written(tensor, api)
    return Access(buffer, tensor.dims, dyn)


def _mark_written(tensor, api):
    checks.check_mutable(tensor, api)
    root = tensor.buffer_.root
    root.written = True
    root.writes += 1


def new_tile(shape, dtype, memory="sbuf", name="", fill=None, api="", pdim=0):
    """A fresh on-chip temporary, checked against partition count and bytes."""
    shape = tuple(shape)
    check_partition_bytes(api, shape, pdim, dtype, memory)
    kind = Buffer.PSUM if memory == "psum" else Buffer.SBUF
    return Tensor.whole(context.current().add_buffer(kind, dtype, name, shape, pdim, memory, fill))


def out_tile(like, dtype, api, shape=None):
    """A fresh tile for a result: of the operand's shape and dtype where no others are asked for."""
    return new_tile(shape or like.shape, checks.dtype_or(like.dtype, dtype, api), api=api)


def source_of(value, shape, mask, api, dma=False):
    """A map's source: tensor, index or number."""
    if isinstance(value, Tensor):
        return access(value, shape, mask, api, dma=dma)
    if isinstance(value, Aff):
        for atom in value.terms:
            scope.check_atom(atom)
        return value.spread(tuple(shape))
    return float(value)


_BITWISE = frozenset(FN[n] for n in BITWISE)
_EXACT = frozenset(FN[n] for n in EXACT_INTEGER)
_YES_OR_NO = frozenset(FN[n] for n in COMPARISONS + LOGICAL)


def _work(dst, values, steps):
    """float32 unless every operand and the result are integers and every step is exact on them.

    A result of 8 or 16 bits is computed in float32 and saturates when it is cast: the engines compute in float32, and
    adds and multiplies of 32-bit integers alone are GpSimd's own (documents of SDK 2.24, nki-aluop)."""
    tensors = [v for v in values if isinstance(v, Tensor)]
    if not steps:
        if len(tensors) == 1 and tensors[0].dtype is dst.dtype:
            return WORK_RAW
    if any(s[0] in _BITWISE for s in steps):
        return WORK_I32
    if not dst.dtype.is_integer or dst.dtype.bits < 32 and not (steps and steps[-1][0] in _YES_OR_NO):
        return WORK_F32
    for v in values:
        integer = v.dtype.is_integer if isinstance(v, Tensor) else isinstance(v, Aff) or float(v).is_integer()
        if not integer:
            return WORK_F32
    if all(s[0] in _EXACT for s in steps):
        return WORK_I32
    return WORK_F32


_SHIFT_RIGHT, _AND = FN["shift_right"], FN["bitwise_and"]


def _as_patterns(dst, values, steps):
    """(values, steps) where a right shift of int8 or int16 moves zeros in: integers are worked on in 32 bits, and the
    bits that their sign fills are none of the pattern (documents: logical shift right, elements are bit patterns)."""
    first = steps[0] if steps else ()
    source = values[first[1]] if first and first[0] == _SHIFT_RIGHT and first[1] < len(values) else None
    dtype = source.dtype if isinstance(source, Tensor) else None
    if dtype is None or dtype.kind != "i" or dtype.bits == 32 or dst.dtype.bits > dtype.bits:
        return values, steps
    count = len(values)
    moved = [(f, *(k + 2 if k >= count else k for k in operands)) for f, *operands in steps]
    moved[0] = (_SHIFT_RIGHT, count + 1, first[2])
    return [*values, float((1 << dtype.bits) - 1)], [(_AND, first[1], count), *moved]


def _checked_mask(mask, shape, api):
    """A mask of the API's, or one already over this space."""
    if isinstance(mask, tuple):
        return mask
    return checks.check_mask(mask, tuple(shape), api)


def emit_map(
    dst,
    values,
    steps,
    instr,
    engine="unknown",
    mask=None,
    api="",
    accumulate=None,
    loops=(),
    shape=None,
    work=None,
    own=False,
):
    """dst = steps(values) point by point over dst's shape. own: dst is state of the engine, no output of a loop's trip.

    @returns dst"""
    shape = tuple(shape or dst.shape)
    items = _checked_mask(mask, shape, api)
    dma = engine == "dma"
    steps = [(FN[name],) + tuple(operands) for name, *operands in steps]
    values, steps = _as_patterns(dst, values, steps)
    sources = [source_of(v, shape, items, api, dma) for v in values]
    target = access(dst, shape, items, api, writes=True, dma=dma)
    scope.check_affine_output(target, own or accumulate is not None, api, items)
    if work is None:
        work = _work(dst, values, steps)
        if accumulate is not None and work == WORK_RAW:
            work = WORK_I32 if dst.dtype.is_integer and dst.dtype.bits == 32 else WORK_F32
    emit_op(
        Op.MAP,
        instr,
        engine,
        shape,
        items,
        target,
        sources,
        steps,
        work,
        NO_FUNCTION if accumulate is None else FN[accumulate],
        loops,
    )
    if items:
        dst.mask = items
        dst.buffer_.root.masks += (items,)
    return dst


def _folded(dst, axes, shape):
    """A fold's destination over all of its space: it stands still along the reduced axes."""
    if dst.ndim == len(shape) and dst.shape == tuple(1 if k in axes else n for k, n in enumerate(shape)):
        of_axis = list(range(len(shape)))
    else:  # axes dropped: the destination's axes are the kept ones in order, then padding
        of_axis = [k for k in range(len(shape)) if k not in axes]
    dims = []
    for a in dst.dims:
        slots = [0] * len(shape)
        for d, k in zip(a.slots, of_axis):
            if k not in axes:
                slots[k] = d
        dims.append(Aff(a.c, a.terms, tuple(slots), shape))
    return Tensor(dst.buffer_, dims, shape)


def emit_fold(
    dst,
    values,
    steps,
    function,
    axes,
    instr,
    engine="vector",
    mask=None,
    api="",
    negate=False,
    accumulate=None,
    shape=None,
    own=False,
):
    """dst = reduction of steps(values) over `axes` of `shape`. dst has size-1 axes (or none) there. own: as in
    emit_map."""
    shape = tuple(shape)
    items = _checked_mask(mask, shape, api)
    sources = [source_of(v, shape, items, api) for v in values]
    target = access(_folded(dst, axes, shape), shape, (), api, writes=True)
    scope.check_affine_output(target, own or accumulate is not None, api)
    steps = [(FN[name],) + tuple(operands) for name, *operands in steps]
    emit_op(
        Op.FOLD,
        instr,
        engine,
        shape,
        items,
        target,
        sources,
        steps,
        _work(dst, values, steps + [(FN[function],)]),
        NO_FUNCTION if accumulate is None else FN[accumulate],
        (),
        FN[function],
        negate,
    )
    return dst


def emit_op(tag, *parts, **more):
    """Adds an operation of the current line; APIs make those of matmul, scan and special themselves."""
    context.current().emit(Op(tag, context.kernel_line(), *parts, **more))


def result_shape(api, operands, partition_broadcast=True):
    """The broadcast shape of tensors and indices. `partition_broadcast`: nl functions may repeat a (1, f) tile over
    partitions."""
    shape = None
    for name, value in operands:
        part = tuple(getattr(value, "shape", ()))
        if part == shape:
            continue
        joined = part if shape is None else broadcast_shapes(shape, part)
        if joined is None:
            fail(
                "SHAPE_BROADCAST",
                f"{api}: shapes {list(shape)} and {list(part)} do not broadcast",
                operands=operands,
                rule="free axes are equal or 1 (numpy's rule)",
                fix="bring the tiles to one shape: check which axis is the partition axis",
            )
        shape = joined
    if partition_broadcast:
        return shape
    counts = {v.shape[0] for _, v in operands if isinstance(v, Tensor) and len(v.shape) == len(shape)}
    if len(counts) > 1:
        fail(
            "SHAPE_BROADCAST",
            f"{api}: Unexpected partition broadcast!",
            operands=operands,
            rule="Python operators do not repeat a tile over partitions (axis 0 must be equal)",
            fix="use the function in place of the operator (nl.add, nl.multiply, ...): it repeats the tile; or "
            f"nl.broadcast_to(tile, shape={shape}) first",
            kind=AssertionError,
        )
    return shape


def whole_2d(tensor, api):
    """The tile as (partitions, free elements): an alias of a whole tile, else of a copy."""
    shape = (tensor.shape[0], math.prod(tensor.shape[1:]))
    if not tensor.is_whole or tensor.buffer_.pdim:
        tensor = emit_map(new_tile(tensor.shape, tensor.dtype, api=api), [tensor], [], "tensor_copy", api=api)
    return tensor if tensor.ndim == 2 else alias(tensor, shape, tensor.dtype, api)
