"""nl: memories and tensors in them."""

import math

from .. import checks, context
from ..affine import Aff, as_int
from ..capacity import check_partition_bytes, check_tensor_bytes
from ..checks import need_dtype
from ..context import fail
from ..limits import MAX_RANK
from ..names import api
from ..nodes import Buffer
from ..tensor import Tensor, identity_dims


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
    """(shape, partition dimension)"""
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
    return tuple(out), pdim


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
    shape, pdim = parse_shape(api_name, shape)
    folded = max(0, len(shape) - MAX_RANK)
    if folded and (memory.kind == Buffer.HBM or pdim <= folded):
        fail(
            "RANK_LAYOUT",
            f"{api_name}: rank {len(shape)}",
            rule=f"tensors have at most {MAX_RANK} dimensions, block dimensions before nl.par_dim beside",
            fix="fold dimensions together",
            kind=ValueError,
            official="exceed_max_supported_dimension",
        )
    dtype = need_dtype(dtype, api_name)
    if memory.kind == Buffer.HBM:
        return _create_hbm(trace, api_name, shape, dtype, memory, name, fill)
    if len(shape) < 2:  # legal while nothing uses it: whatever does finds that it has one axis
        return Tensor(trace.add_buffer(memory.kind, dtype, name or "", (1, *shape), 0, memory.name, fill), (), shape)
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
    stored = (math.prod(shape[: folded + 1]), *shape[folded + 1 :])
    out = trace.add_buffer(memory.kind, dtype, name or "", stored, pdim - folded, memory.name, fill)
    out.folded = folded
    return Tensor(out, _folded_dims(shape, folded), shape) if folded else Tensor.whole(out)


def _folded_dims(shape, folded):
    """Dims over all axes of a tensor whose first axes are one dimension of its buffer: programs have fewer
    dimensions."""
    whole = identity_dims(shape)
    first = whole[folded]
    for axis in range(folded):
        first = first.plus(whole[axis], math.prod(shape[axis + 1 : folded + 1]))
    return (first, *whole[folded + 1 :])


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
            fix="create it in the kernel itself and pass it to the helper"
            if where == "a helper"
            else f"move the nl.ndarray call before the {'loops' if trace.region.kind == 'loop' else 'branches'}",
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
