"""nisa: activations, iota, affine_select."""

from .. import checks, context, dtypes
from ..affine import Aff
from ..checks import need_dtype
from ..conditions import Cond, always_holds
from ..context import fail
from ..emit import emit_map, new_tile, out_tile
from ..names import api
from ..registers import accumulate
from ..tables import ACTIVATIONS
from ..tensor import Tensor
from .nisa_common import copy_work, need_op, reduce_cmd, vector_operand
from .nisa_vector import check_reduced
from .nl_elementwise import is_number, warn_of_integers


def _activation_values(label, op, data, bias, scale):
    """(values, steps) of op(data * scale + bias)."""
    checks.check_tile(data, label, "data")
    name = need_op(op, label, "op", ACTIVATIONS, "op is in the activation table")
    if isinstance(scale, Tensor):
        if scale.dtype is not dtypes.float32:
            fail(
                "DTYPE",
                f"{label}: scale is {scale.dtype}",
                operands=[("data", data), ("scale", scale)],
                rule="a scale vector is float32",
                fix="scale as float32 (p, 1), or a number",
                official="activation_scale_invalid_type",
            )
        if any(n != 1 for n in scale.shape[1:]) or scale.shape[0] != data.shape[0]:
            fail(
                "SHAPE_BROADCAST",
                f"{label}: scale has shape {list(scale.shape)}",
                operands=[("data", data), ("scale", scale)],
                rule="scale is a number or a (p, 1) vector",
                fix=f"shape ({data.shape[0]}, 1)",
                official="activation_scale_scalar_or_vector",
            )
    elif not is_number(scale):
        fail(
            "DTYPE",
            f"{label}: scale is {type(scale).__name__}",
            operands=[("scale", scale)],
            rule="scale is a number or a float32 (p, 1) tile",
            fix="scale=1.0",
            official="activation_scale_scalar_or_vector",
        )
    if bias is not None:
        _check_bias(label, name, data, bias)
    elif context.current().direct_allocation and name != "copy":
        fail(
            "OUTPUT_CONTRACT",
            f"{label}: no bias beside direct allocation",
            operands=[("data", data)],
            rule="a kernel that allocates by hand gives the bias tile itself",
            fix="zero = nisa.memset((p, 1), 0.0, nl.float32); bias=zero",
            official="bias_tensor_must_be_specified_in_allocation_kernel",
        )
    values, steps, last = [data], [], 0
    sources = 1 + (not _is_one(scale)) + (bias is not None)
    if not _is_one(scale):
        values.append(vector_operand(scale, data, label, "scale"))
        steps.append(("multiply", 0, 1))
        last = sources
    if bias is not None:
        values.append(vector_operand(bias, data, label, "bias"))
        steps.append(("add", last, len(values) - 1))
        last = sources + len(steps) - 1
    steps.append((name, last))
    if name == "copy" and len(steps) == 1:
        steps = []
    return values, steps, name


def _is_one(scale):
    return not isinstance(scale, Tensor) and float(scale) == 1.0


def _check_bias(label, name, data, bias):
    if not isinstance(bias, Tensor):
        if is_number(bias) and float(bias) == 0.0:
            return
        fail(
            "DTYPE",
            f"{label}: bias is {type(bias).__name__}",
            operands=[("data", data), ("bias", bias)],
            rule="bias is a tile of shape (p, 1) in float32, float16 or bfloat16",
            fix="bias = nl.full((p, 1), value, dtype=nl.float32), or nisa.memset",
            official="activation_bias_invalid_type",
        )
    if bias.dtype.name not in ("float32", "float16", "bfloat16"):
        fail(
            "DTYPE",
            f"{label}: bias is {bias.dtype}",
            operands=[("data", data), ("bias", bias)],
            rule="bias is float32, float16 or bfloat16",
            fix="cast the bias to float32",
            official="activation_bias_invalid_type",
        )
    if name == "reciprocal":
        fail(
            "UNSUPPORTED_OP",
            f"{label}: reciprocal with a bias",
            operands=[("bias", bias)],
            rule="on NeuronCore-v2 reciprocal takes no bias",
            fix="add first with nl.add, then nisa.reciprocal",
        )


def _accumulate(label, command, reduce_op, reduce_res, data, values, steps, mask):
    if reduce_op is not None or reduce_res is not None:
        need_op(reduce_op, label, "reduce_op", ("add",), "on NeuronCore-v2 activation reduces with add only")
    if reduce_res is not None:
        check_reduced(label, reduce_res, data)
    accumulate(label, command, reduce_res, values, steps, data.shape, mask)


@api("nisa")
def activation(
    op,
    data,
    *,
    bias=None,
    scale=1.0,
    reduce_op=None,
    reduce_res=None,
    reduce_cmd=reduce_cmd.idle,
    mask=None,
    dtype=None,
):
    label = "nisa.activation"
    values, steps, name = _activation_values(label, op, data, bias, scale)
    warn_of_integers(label, name, data.dtype, dtype)
    command = getattr(reduce_cmd, "name", "idle")
    if command == "idle":
        if reduce_res is not None:
            fail(
                "BAD_SIGNATURE",
                f"{label}: reduce_res with reduce_cmd idle",
                rule="reduce_res needs reduce_cmd=nisa.reduce_cmd.reset_reduce or reduce",
                fix="reduce_cmd=nisa.reduce_cmd.reset_reduce",
            )
    else:
        _accumulate(label, command, reduce_op, reduce_res, data, values, steps, mask)
    first = "activation" if command in ("idle", "reset") else "part_of_former"
    work = None if steps else copy_work(data, "scalar")
    return emit_map(out_tile(data, dtype, label), values, steps, first, "scalar", mask, label, work=work)


@api("nisa")
def activation_reduce(op, data, *, reduce_op=None, reduce_res=None, bias=None, scale=1.0, mask=None, dtype=None):
    label = "nisa.activation_reduce"
    values, steps, _ = _activation_values(label, op, data, bias, scale)
    if reduce_op is None or reduce_res is None:
        fail(
            "BAD_SIGNATURE",
            f"{label}: missing value for required argument '{'reduce_op' if reduce_op is None else 'reduce_res'}'",
            rule="reduce_op and reduce_res are required",
            fix="reduce_op=np.add, reduce_res=nl.ndarray((p, 1), dtype=nl.float32)",
        )
    _accumulate(label, "reset_reduce", reduce_op, reduce_res, data, values, steps, mask)
    return emit_map(out_tile(data, dtype, label), values, steps, "part_of_former", "scalar", mask, label)


@api("nisa")
def iota(expr, dtype, *, mask=None):
    label = "nisa.iota"
    if not isinstance(expr, Aff):
        fail(
            "BAD_SIGNATURE",
            f"{label}: expr is {type(expr).__name__}",
            operands=[("expr", expr)],
            rule="expr is an affine expression of nl.arange",
            fix="nisa.iota(nl.arange(128)[:, None] + 0 * nl.arange(512)[None, :], dtype=nl.int32)",
        )
    if not expr.shape:  # a loop variable: one value
        expr = expr.spread((1, 1))
    if len(expr.shape) < 2:
        fail(
            "INDEXING",
            f"{label}: expr of shape {list(expr.shape)} has {len(expr.shape)} axes",
            operands=[("expr", expr)],
            rule="index grids have at least two axes",
            fix="nl.arange(n)[None, :]",
            official="1d_arange_not_supported",
        )
    checks.check_partition_count(
        label,
        expr.shape[0],
        operands=[("expr", expr)],
        rule="at most 128 partitions",
        fix="nl.arange(128)[:, None]",
    )
    out = new_tile(expr.shape, need_dtype(dtype, label), api=label)
    return emit_map(out, [expr], [], "iota", "gpsimd", mask, label)


# The function that compares an index with 0 as a condition of each kind does.
_COMPARISON = {Cond.NOT_NEGATIVE: "greater_equal", Cond.ZERO: "equal", Cond.NOT_ZERO: "not_equal"}


def _check_selected(label, name, tile):
    if tile.dtype.is_integer and tile.dtype.bits == 32:
        fail(
            "DTYPE",
            f"{label}: {name} is {tile.dtype}",
            operands=[(name, tile)],
            rule="any float or 8-bit/16-bit integer data types, in and out",
            fix="nl.copy(tile, dtype=nl.float32) before it, or nl.where(condition_tile, x, y)",
        )


@api("nisa")
def affine_select(pred, on_true_tile, on_false_value, *, mask=None, dtype=None):
    label = "nisa.affine_select"
    checks.check_tile(
        on_true_tile, label, "on_true_tile"
    )  # the compiler copies a PSUM tile for GpSimd, which reads none
    _check_selected(label, "on_true_tile", on_true_tile)
    if isinstance(pred, Tensor) or not isinstance(pred, Cond):
        if isinstance(pred, bool):
            pred = Cond([(Cond.NOT_NEGATIVE, Aff(0 if pred else -1))], ())
        else:
            fail(
                "INDEXING",
                f"{label}: pred is {type(pred).__name__}",
                operands=[("pred", pred)],
                rule="pred is one affine comparison of indices",
                fix="pred=(i_p >= i_f)",
            )
    if not is_number(on_false_value):
        fail(
            "BAD_SIGNATURE",
            f"{label}: on_false_value is {type(on_false_value).__name__}",
            operands=[("on_false_value", on_false_value)],
            rule="on_false_value is a number",
            fix="on_false_value=nl.fp32.min",
        )
    items = checks.check_mask(pred, on_true_tile.shape, label)
    open_items = [(kind, e) for kind, e in items if not always_holds(kind, e)] or list(items[:1])
    if len(open_items) > 1:
        fail(
            "UNSUPPORTED_OP",
            f"{label}: a pred of {len(open_items)} comparisons",
            operands=[("on_true_tile", on_true_tile)],
            rule='one affine comparison: "it can\'t be multiple masks combined using logical operators"',
            fix="one call a comparison: t = nisa.affine_select(pred=first, ...), then "
            "nisa.affine_select(pred=second, on_true_tile=t, ...)",
        )
    ((kind, e),) = open_items
    values = [e, 0.0, on_true_tile, float(on_false_value)]
    steps = [(_COMPARISON[kind], 0, 1), ("select", 4, 2, 3)]
    out = out_tile(on_true_tile, dtype, label)
    _check_selected(label, "the result", out)
    return emit_map(out, values, steps, "affine_select", "gpsimd", mask, label)
