"""nl: creating tensors, moving them between HBM and the chip, casts."""

from .. import checks, context, dtypes, scope
from ..affine import Aff, Atom, as_int
from ..assign import check_value
from ..capacity import check_partition_bytes, check_tensor_bytes
from ..checks import dtype_or, need_dtype
from ..constants import array_bytes, identity_bytes
from ..context import fail
from ..emit import emit_map, new_tile, out_tile
from ..limits import MAX_RANK, SBUF_BYTES
from ..names import api
from ..nodes import Buffer
from ..shapes import broadcast_shapes
from ..tensor import Tensor, method


class Memory:
    """nl.sbuf, nl.psum, nl.hbm, nl.shared_hbm, nl.private_hbm."""

    def __init__(self, name, kind):
        self.name, self.kind = name, kind

    def __repr__(self):
        return self.name


sbuf, psum = Memory("sbuf", Buffer.SBUF), Memory("psum", Buffer.PSUM)
hbm, private_hbm, shared_hbm = (Memory(n, Buffer.HBM) for n in ("hbm", "private_hbm", "shared_hbm"))
_MEMORIES = {m.name: m for m in (sbuf, psum, hbm, private_hbm, shared_hbm)}


class par_dim:
    """nl.par_dim(n): marks the partition dimension of a shape."""

    __slots__ = ("n",)

    def __init__(self, n):
        self.n = n

    def __repr__(self):
        return f"par_dim({self.n})"


def parse_shape(api_name, shape):
    """(shape, partition dimension, explicit?)"""
    if not isinstance(shape, (tuple, list)):
        if as_int(shape) is None:
            fail(
                "RANK_LAYOUT",
                f"{api_name}: shape is {shape!r}",
                rule="a shape is a tuple of positive integers",
                fix="(128, 512)",
                kind=TypeError,
            )
        shape = (shape,)
    out, pdim, explicit = [], 0, False
    for k, n in enumerate(shape):
        if isinstance(n, par_dim):
            if explicit:
                fail(
                    "RANK_LAYOUT",
                    f"{api_name}: two partition dimensions",
                    rule="one nl.par_dim a shape",
                    fix="mark one dimension",
                )
            n, pdim, explicit = n.n, k, True
        value = as_int(n)
        if value is None:
            what = "a loop variable" if isinstance(n, Aff) else repr(n)
            fail(
                "RANK_LAYOUT",
                f"{api_name}: dimension {k} of the shape is {what}",
                rule="shapes are compile-time integers",
                fix="allocate the largest tile and mask it",
                kind=TypeError,
            )
        if value <= 0:
            fail(
                "RANK_LAYOUT",
                f"{api_name}: dimension {k} of the shape is {value}",
                rule="dimensions are positive",
                fix="use a size >= 1",
            )
        out.append(value)
    return tuple(out), pdim, explicit


def create(api_name, shape, dtype, buffer, name, fill):
    trace = context.current()
    memory = sbuf if buffer is None else buffer
    memory = _MEMORIES.get(memory, memory) if isinstance(memory, str) else memory
    if not isinstance(memory, Memory):
        label = getattr(memory, "memory_name", None)
        memory = _MEMORIES.get(label)
        if memory is None:
            fail(
                "WRONG_MEMORY",
                f"{api_name}: buffer={buffer!r}",
                rule="buffers are nl.sbuf, nl.psum, nl.hbm, nl.private_hbm, nl.shared_hbm",
                fix="buffer=nl.sbuf",
                official="unsupported_memory",
            )
    if fill is not None and getattr(buffer, "direct", False):
        fail(
            "OUTPUT_CONTRACT",
            f"{api_name}: an initial value in memory that is allocated by hand",
            rule="direct allocation creates undefined tensors",
            fix="nl.ndarray(..., buffer=ncc.sbuf.mod_alloc(...)), then t[...] = value",
            official="tensor_creation_on_scratchpad_with_init_value_not_supported",
        )
    shape, pdim, explicit = parse_shape(api_name, shape)
    if len(shape) > MAX_RANK:
        fail(
            "RANK_LAYOUT",
            f"{api_name}: rank {len(shape)}",
            rule=f"tensors have at most {MAX_RANK} dimensions",
            fix="fold dimensions together",
            kind=ValueError,
            official="exceed_max_supported_dimension",
        )
    dtype = need_dtype(dtype, api_name)
    if memory.kind == Buffer.HBM:
        return _create_hbm(trace, api_name, shape, dtype, memory, name, fill)
    if len(shape) < 2:
        fail(
            "RANK_LAYOUT",
            f"{api_name}: Insufficient rank, shape {list(shape)} in {memory.name}",
            rule="on-chip tensors have rank >= 2",
            fix=f"({shape[0]}, 1) for one value a partition, or (1, {shape[0]}) for one row",
        )
    if pdim == len(shape) - 1:
        fail(
            "RANK_LAYOUT",
            f"{api_name}: the partition dimension of {list(shape)} is the last one",
            rule="free axes follow the partition axis",
            fix="add a free axis of size 1",
        )
    checks.check_partition_count(
        api_name,
        shape[pdim],
        operands=[("tensor", f"{list(shape)} {dtype} in {memory.name}")],
        rule="axis 0 (or nl.par_dim) of an on-chip tensor is at most nl.tile_size.pmax = 128",
        fix=f"({-(-shape[pdim] // 128)}, nl.par_dim(128), {', '.join(map(str, shape[pdim + 1:]))}) and a loop over the "
        "first dimension; "
        "an output is created with buffer=nl.shared_hbm",
    )
    check_partition_bytes(api_name, shape, pdim, dtype, memory.name)
    check_tensor_bytes(api_name, shape, dtype, memory.name, on_chip=True)
    out = trace.add_buffer(memory.kind, dtype, name or "", shape, pdim, memory.name, fill)
    out.declared_pdim = explicit
    return Tensor.whole(out)


def _create_hbm(trace, api_name, shape, dtype, memory, name, fill):
    if fill is not None:
        fail(
            "OUTPUT_CONTRACT",
            f"{api_name}: an HBM tensor with an initial value",
            rule="HBM tensors are created undefined, with nl.ndarray",
            fix=f"out = nl.ndarray({shape}, dtype=..., buffer=nl.{memory.name}) and nl.store the values",
            official="hbm_tensor_with_init_value_not_supported",
        )
    if memory is shared_hbm and (trace.in_symbolic_region or trace.depth > 1 or context.in_helper()):
        where = "a helper" if not trace.in_symbolic_region else f"a {trace.region.kind}"
        fail(
            "OUTPUT_CONTRACT",
            f"{api_name}: a shared_hbm tensor is created inside {where}",
            operands=[("tensor", f"{list(shape)} {dtype} in {memory.name}")],
            rule="shared_hbm tensors are created at the top level of the kernel",
            fix="move the nl.ndarray call before the loops",
            official="shared_hbm_must_in_kernel_level",
        )
    check_tensor_bytes(api_name, shape, dtype, memory.name, on_chip=False)
    buffer = trace.add_buffer(Buffer.HBM, dtype, name or "", shape, 0, memory.name)
    buffer.shared = memory is shared_hbm
    return Tensor.whole(buffer)


_CREATION_KEYWORDS = ("lazy_initialization",)


def _check_keywords(label, keywords):
    for name in keywords:
        if name not in _CREATION_KEYWORDS:
            raise TypeError(f"{label}() got an unexpected keyword argument '{name}'")


@api("nl")
def ndarray(shape, dtype, *, buffer=None, name="", **kwargs):
    _check_keywords("ndarray", kwargs)
    return create("nl.ndarray", shape, dtype, buffer, name, None)


@api("nl")
def zeros(shape, dtype, *, buffer=None, name="", **kwargs):
    _check_keywords("zeros", kwargs)
    return create("nl.zeros", shape, dtype, buffer, name, 0.0)


@api("nl")
def ones(shape, dtype, *, buffer=None, name="", **kwargs):
    _check_keywords("ones", kwargs)
    return create("nl.ones", shape, dtype, buffer, name, 1.0)


@api("nl")
def full(shape, fill_value, dtype, *, buffer=None, name="", **kwargs):
    _check_keywords("full", kwargs)
    if isinstance(fill_value, (Tensor, Aff)):
        fail(
            "BAD_SIGNATURE",
            "nl.full: fill_value is not a number",
            operands=[("fill_value", fill_value)],
            rule="a compile-time number",
            fix="t = nl.ndarray(...); t[...] = value",
        )
    return create("nl.full", shape, dtype, buffer, name, float(fill_value))


def _like(x, dtype, buffer, name, fill, label):
    checks.require_tensor(x, label, "a")
    buf = x.buffer_
    shape = list(x.shape)
    if buf.on_chip and x.is_whole and buf.pdim:
        shape[buf.pdim] = par_dim(shape[buf.pdim])
    return create(label, shape, dtype or x.dtype, buffer or (x.memory if buf.on_chip else None), name, fill)


@api("nl")
def zeros_like(a, dtype=None, *, buffer=None, name="", **kwargs):
    _check_keywords("zeros_like", kwargs)
    return _like(a, dtype, buffer, name, 0.0, "nl.zeros_like")


@api("nl")
def empty_like(a, dtype=None, *, buffer=None, name="", **kwargs):
    _check_keywords("empty_like", kwargs)
    return _like(a, dtype, buffer, name, None, "nl.empty_like")


def hbm_source(src, name, what):
    """An HBM view with at least two axes: a vector becomes one value a partition."""
    checks.require_tensor(src, name, what)
    scope.check_alive(src, name)
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
    while src.ndim < 2:
        src = src.expand_dims(src.ndim)
    if src.ndim >= 4 and whole and (src.shape[0] > 128 or _free_bytes(src) > SBUF_BYTES):
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


def _free_bytes(tensor):
    n = tensor.dtype.size
    for d in tensor.shape[1:]:
        n *= d
    return n


@api("nl")
def load(src, *, mask=None, dtype=None):
    src = hbm_source(src, "nl.load", "src")
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


@api("nl")
def static_cast(value, dtype):
    if not isinstance(value, Tensor):
        return value
    return cast(value, need_dtype(dtype, "nl.static_cast"), None, "nl.static_cast")


@api("nl")
def broadcast_to(src, *, shape):
    name = "nl.broadcast_to"
    checks.check_tile(src, name, "src")
    shape, _, _ = parse_shape(name, shape)
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


def _constant(array_bytes, shape, dtype, name):
    trace = context.current()
    buffer = Buffer(Buffer.CONSTANT, dtype, name, shape, 0, "hbm", context.kernel_line(), trace.top)
    buffer.data, buffer.written, buffer.filled = array_bytes, True, True
    trace.buffers.append(buffer)
    return Tensor.whole(buffer)


@api("nl")
def shared_constant(constant, dtype=None):
    name = "nl.shared_constant"
    shape = getattr(constant, "shape", None)
    if shape is None or isinstance(constant, (Tensor, Aff)):
        fail(
            "BAD_SIGNATURE",
            f"{name}: constant is {type(constant).__name__}",
            rule="a numpy array",
            fix="nl.shared_constant(np.eye(128), dtype=nl.float32)",
        )
    target = need_dtype(dtype if dtype is not None else constant.dtype, name)
    return _constant(array_bytes(constant, target), tuple(int(n) for n in shape), target, "constant")


@api("nl")
def shared_identity_matrix(n, dtype=dtypes.uint8):
    target = need_dtype(dtype, "nl.shared_identity_matrix")
    n = as_int(n)
    if n is None or not 0 < n <= 4096:
        fail(
            "BAD_SIGNATURE",
            "nl.shared_identity_matrix: n is not a positive integer",
            rule="n is a compile-time integer",
            fix="n=128",
        )
    return _constant(identity_bytes(n, target), (n, n), target, "identity")
