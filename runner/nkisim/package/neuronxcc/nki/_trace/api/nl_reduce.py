"""nl: reductions over free axes, softmax, rms_norm, loop_reduce."""

import math

from .. import checks, context, dtypes, scope
from ..affine import Aff, as_int
from ..checks import dtype_or
from ..conditions import always_holds
from ..context import fail
from ..emit import emit_fold, emit_map, new_tile, out_tile, result_shape
from ..names import api
from ..tables import REDUCTIONS, function_name
from ..tensor import Tensor


def parse_axes(label, x, axis):
    """Sorted non-negative free axes."""
    items = list(axis) if isinstance(axis, (tuple, list)) else [axis]
    out = []
    for a in items:
        value = as_int(a)
        if value is None:
            fail(
                "BAD_SIGNATURE",
                f"{label}: axis is {a!r}",
                operands=[("x", x)],
                rule="axis is an integer or a tuple of integers",
                fix="axis=1",
            )
        value = value + x.ndim if value < 0 else value
        if not 0 <= value < x.ndim:
            fail(
                "RANK_LAYOUT",
                f"{label}: axis {a} of a tile of rank {x.ndim}",
                operands=[("x", x)],
                rule=f"axes are 1 to {x.ndim - 1}",
                fix="axis=1",
                kind=ValueError,
            )
        out.append(value)
    if 0 in out:
        fail(
            "UNSUPPORTED_OP",
            f"{label}: Reduction on partition axes is not supported",
            operands=[("x", x)],
            rule="axis 0 is the partition axis; only free axes are reduced",
            fix="transpose first (nl.transpose), multiply by ones: nl.matmul(ones(p, 1), x, transpose_x=True), or "
            "nisa.tensor_partition_reduce",
        )
    return sorted(set(out))


def reduced_shape(shape, axes, keepdims):
    out = (
        tuple(1 if k in axes else n for k, n in enumerate(shape))
        if keepdims
        else tuple(n for k, n in enumerate(shape) if k not in axes)
    )
    return out if len(out) >= 2 else out + (1,)


def reduce_tile(
    label,
    x,
    axis,
    function,
    *,
    dtype=None,
    mask=None,
    keepdims=False,
    steps=(),
    extra=(),
    instr="tensor_reduce",
    negate=False,
):
    """A new tile with the reduction of steps(x, *extra)."""
    checks.check_tile(x, label, "x")
    axes = parse_axes(label, x, axis)
    target = dtype_or(dtypes.bool_ if function.startswith("logical") else x.dtype, dtype, label)
    out = new_tile(reduced_shape(x.shape, axes, keepdims), target, api=label)
    return emit_fold(
        out, [x] + list(extra), list(steps), function, axes, instr, "vector", mask, label, negate, shape=x.shape
    )


@api("nl")
def max(x, axis, *, dtype=None, mask=None, keepdims=False):
    return reduce_tile("nl.max", x, axis, "maximum", dtype=dtype, mask=mask, keepdims=keepdims)


@api("nl")
def min(x, axis, *, dtype=None, mask=None, keepdims=False):
    return reduce_tile("nl.min", x, axis, "minimum", dtype=dtype, mask=mask, keepdims=keepdims)


@api("nl")
def sum(x, axis, *, dtype=None, mask=None, keepdims=False):
    return reduce_tile("nl.sum", x, axis, "add", dtype=dtype, mask=mask, keepdims=keepdims)


@api("nl")
def prod(x, axis, *, dtype=None, mask=None, keepdims=False):
    return reduce_tile("nl.prod", x, axis, "multiply", dtype=dtype, mask=mask, keepdims=keepdims)


@api("nl")
def all(x, axis, *, dtype=None, mask=None):
    return reduce_tile("nl.all", x, axis, "logical_and", dtype=dtype or dtypes.bool_, mask=mask)


def _count(x, axes):
    return math.prod(x.shape[a] for a in axes)


def _mean(label, x, axis, mask, keepdims):
    """The mean in float32: (p, ...) tile."""
    checks.check_tile(x, label, "x")
    axes = parse_axes(label, x, axis)
    items = checks.check_mask(mask, x.shape, label)
    if any(any(e.slots[a] for a in axes) and not always_holds(kind, e) for kind, e in items):
        context.warn(
            f"{label}: the sum is of the elements under the mask, the divisor is that of all, "
            f"{_count(x, axes)}; for their "
            "mean divide nl.sum(.., mask=) by their number"
        )
    total = reduce_tile(label, x, axis, "add", dtype=dtypes.float32, mask=mask, keepdims=keepdims)
    out = new_tile(total.shape, dtypes.float32, api=label)
    return emit_map(out, [total, 1.0 / _count(x, axes)], [("multiply", 0, 1)], "tensor_scalar", "vector", (), label)


@api("nl")
def mean(x, axis, *, dtype=None, mask=None, keepdims=False):
    value = _mean("nl.mean", x, axis, mask, keepdims)
    # "float32 intermediate and return values are used for integer inputs"
    target = dtype_or(x.dtype if x.dtype.is_float else dtypes.float32, dtype, "nl.mean")
    if target is dtypes.float32:
        return value
    out = new_tile(value.shape, target, api="nl.mean")
    return emit_map(out, [value], [], "part_of_former", "vector", (), "nl.mean")


@api("nl")
def var(x, axis, *, dtype=None, mask=None, keepdims=False):
    label = "nl.var"
    mean_tile = _mean(label, x, axis, mask, True)
    axes = parse_axes(label, x, axis)
    total = reduce_tile(
        label,
        x,
        axis,
        "add",
        dtype=dtypes.float32,
        mask=mask,
        keepdims=keepdims,
        extra=[mean_tile],
        steps=[("subtract", 0, 1), ("square", 2)],
        instr="tensor_reduce",
    )
    target = dtype_or(x.dtype, dtype, label)
    out = new_tile(total.shape, target, api=label)
    return emit_map(out, [total, 1.0 / _count(x, axes)], [("multiply", 0, 1)], "tensor_scalar", "vector", (), label)


@api("nl")
def softmax(x, axis=-1, *, dtype=None, compute_dtype=None, mask=None):
    label = "nl.softmax"
    checks.check_tile(x, label, "x")
    items = checks.check_mask(mask, x.shape, label)
    highest = reduce_tile(label, x, axis, "maximum", dtype=dtypes.float32, mask=items, keepdims=True)
    powers = new_tile(x.shape, dtypes.float32, api=label)
    emit_map(powers, [x, highest], [("subtract", 0, 1), ("exp", 2)], "activation", "scalar", items, label)
    total = reduce_tile(label, powers, axis, "add", dtype=dtypes.float32, mask=items, keepdims=True)
    out = out_tile(x, dtype, label)
    return emit_map(out, [powers, total], [("divide", 0, 1)], "tensor_scalar", "vector", items, label)


@api("nl")
def rms_norm(x, w, axis, n, epsilon=1e-6, *, dtype=None, compute_dtype=None, mask=None):
    label = "nl.rms_norm"
    checks.check_tile(x, label, "x")
    checks.check_tile(w, label, "w")
    count = as_int(n)
    if count is None or count <= 0:
        fail(
            "BAD_SIGNATURE",
            f"{label}: n is {n!r}",
            operands=[("x", x), ("w", w)],
            rule="n is the number of elements to average over",
            fix="n=x.shape[1]",
        )
    items = checks.check_mask(mask, x.shape, label)
    squares = reduce_tile(
        label,
        x,
        axis,
        "add",
        dtype=dtypes.float32,
        mask=items,
        keepdims=True,
        steps=[("square", 0)],
        instr="activation_reduce",
    )
    scale = new_tile(squares.shape, dtypes.float32, api=label)
    emit_map(
        scale,
        [squares, 1.0 / count, float(epsilon)],
        [("multiply", 0, 1), ("add", 3, 2), ("rsqrt", 4)],
        "activation",
        "scalar",
        (),
        label,
    )
    out = out_tile(x, dtype, label)
    result_shape(label, [("x", x), ("w", w)])
    return emit_map(
        out, [x, scale, w], [("multiply", 0, 1), ("multiply", 3, 2)], "scalar_tensor_tensor", "vector", items, label
    )


def reduction_of(label, op, x):
    """The function that reduces x. @raises UNSUPPORTED_OP"""
    name = function_name(op)
    if name not in REDUCTIONS:
        fail(
            "UNSUPPORTED_OP",
            f"{label}: op {getattr(op, '__name__', op)}",
            operands=[("x", x)],
            rule="op is np.add, np.max or another reduction",
            fix="op=np.add",
        )
    return name


@api("nl")
def loop_reduce(x, op, loop_indices, *, dtype=None, mask=None, name=None):
    label = "nl.loop_reduce"
    checks.check_tile(x, label, "x")
    function = reduction_of(label, op, x)
    loops = []
    for index in loop_indices if isinstance(loop_indices, (tuple, list)) else [loop_indices]:
        atoms = list(index.terms) if isinstance(index, Aff) else []
        if len(atoms) != 1 or atoms[0].region is None:
            fail(
                "BAD_SIGNATURE",
                f"{label}: loop_indices holds {index!r}",
                operands=[("x", x)],
                rule="variables of enclosing loops",
                fix="loop_indices=[i]",
            )
        scope.check_atom(atoms[0])
        loops.append(atoms[0].key)
    target = dtype_or(x.dtype, dtype, label)
    view = x
    if target is not x.dtype or mask is not None:
        view = new_tile(x.shape, target, api=label)
        emit_map(view, [x], [], "part_of_former", "unknown", mask, label)
    out = Tensor(view.buffer_, view.dims, view.shape, view.dyn)
    out.mask, out.reduction = view.mask, (function, loops)
    return out
