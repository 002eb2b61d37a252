"""nl: elementwise functions, all made from one table, the operators of tiles, where."""

from .. import checks, context, dtypes
from ..affine import Aff
from ..checks import dtype_or, need_dtype
from ..context import fail
from ..emit import emit_map, new_tile, result_shape
from ..names import api
from ..tables import ACTIVATIONS, BITVEC, BITWISE, COMPARISONS, LOGICAL, NL_BINARY, NL_UNARY
from ..tensor import Tensor


def is_number(value):
    return isinstance(value, (int, float)) or (
        not isinstance(value, (Tensor, Aff)) and hasattr(value, "dtype") and getattr(value, "shape", None) == ()
    )


def check_operand(value, name, argument):
    if isinstance(value, Tensor):
        checks.check_tile(value, name, argument)
    elif not isinstance(value, Aff) and not is_number(value):
        checks.require_tensor(value, name, argument)


def operand_dtype(value):
    if isinstance(value, Tensor):
        return value.dtype
    return dtypes.int32 if isinstance(value, Aff) else dtypes.of_scalar(value)


def _float_operand(label, pairs):
    """Bitwise functions take integers only."""
    for argument, value in pairs:
        if operand_dtype(value).is_float:
            fail(
                "DTYPE",
                f"{label}: {argument} is {operand_dtype(value)}",
                operands=pairs,
                rule="bitwise functions take integer tiles",
                fix="use nl.logical_and / nl.multiply for conditions, or cast to an integer type",
            )


def binary_call(name, x, y, dtype=None, mask=None, partition_broadcast=True, label=None):
    label = label or f"nl.{name}"
    pairs = [("x", x), ("y", y)]
    check_operand(x, label, "x")
    check_operand(y, label, "y")
    if not isinstance(x, Tensor) and not isinstance(y, Tensor):
        if not isinstance(x, Aff) and not isinstance(y, Aff):
            checks.require_tensor(x, label, "x")
        if not getattr(x, "shape", ()) and not getattr(y, "shape", ()):
            checks.require_tensor(x, label, "x")
    if name in BITVEC:
        _float_operand(label, pairs)
    check_rank_of_index(label, pairs)
    shape = result_shape(label, pairs, partition_broadcast)
    if dtype is not None:
        target = need_dtype(dtype, label)
    elif name in COMPARISONS + LOGICAL:
        target = dtypes.bool_
    else:
        target = dtypes.promote(operand_dtype(x), operand_dtype(y))
        if name == "divide" and target.is_integer:
            target = dtypes.float32  # as numpy's: nl.floor(i / 38) of an int32 tile is 0 at 37
        if name in BITVEC and target.is_float:
            target = dtypes.uint32  # of uint32 with int32 (or a Python number): bit patterns have no float type
    checks.check_partition_count(
        label,
        shape[0],
        operands=pairs,
        rule="at most 128 partitions",
        fix="use a smaller index grid",
    )
    out = new_tile(shape, target, api=label)
    return emit_map(out, [x, y], [(name, 0, 1)], _binary_instr(x, y), "unknown", mask, label)


def check_rank_of_index(label, pairs):
    for argument, value in pairs:
        if isinstance(value, Aff) and len(value.shape) == 1:
            fail(
                "INDEXING",
                f"{label}: {argument} is a one-axis arange",
                operands=pairs,
                rule="index grids have at least two axes",
                fix="nl.arange(n)[None, :]",
                official="1d_arange_not_supported",
            )


def _binary_instr(x, y):
    """(p, 1) operands and numbers ride in tensor_scalar."""
    for value, other in ((x, y), (y, x)):
        if not isinstance(value, Tensor) or (
            isinstance(other, Tensor) and value.shape != other.shape and all(n == 1 for n in value.shape[1:])
        ):
            return "tensor_scalar"
    return "tensor_tensor"


# Functions whose results of integers are integers.
_WHOLE = frozenset("copy abs negative sign trunc floor ceil square relu invert logical_not".split())


def warn_of_integers(label, name, target, dtype):
    """By the documents a result has the operand's type where no other is asked for: exp of an int32 tile is rounded."""
    if target.is_integer and dtype is None and name not in _WHOLE:
        context.warn(f"{label}: the result is {target}, as the operand: it is rounded; dtype=nl.float32 keeps it")


def unary_call(name, x, dtype=None, mask=None, label=None):
    label = label or f"nl.{name}"
    checks.check_tile(x, label, "x") if isinstance(x, Tensor) else checks.require_tensor(x, label, "x")
    target = dtype_or(dtypes.bool_ if name == "logical_not" else x.dtype, dtype, label)
    if name in BITWISE and x.dtype.is_float:
        _float_operand(label, [("x", x)])
    warn_of_integers(label, name, target, dtype)
    if name in ("sin", "arctan"):
        context.warn(f"{label}: results hold for {'[-pi, pi]' if name == 'sin' else '[-pi/2, pi/2]'} only")
    out = new_tile(x.shape, target, api=label)
    instr, engine = (
        ("reciprocal", "vector")
        if name == "reciprocal"
        else ("activation", "scalar")
        if name in ACTIVATIONS
        else ("tensor_scalar", "vector")
    )
    return emit_map(out, [x], [(name, 0)], instr, engine, mask, label)


def _make_binary(public, name):
    def function(x, y, *, dtype=None, mask=None):
        return binary_call(name, x, y, dtype, mask, True, f"nl.{public}")

    def by_position(x, y, dtype=None, mask=None):
        return binary_call(name, x, y, dtype, mask, True, f"nl.{public}")

    function = by_position if public in ("mod", "fmod") else function  # so the documents write these two

    function.__name__ = function.__qualname__ = public
    return api("nl", public)(function)


def _make_unary(public, name):
    def function(x, *, dtype=None, mask=None):
        return unary_call(name, x, dtype, mask, f"nl.{public}")

    function.__name__ = function.__qualname__ = public
    return api("nl", public)(function)


for _public, _name in NL_BINARY.items():
    _make_binary(_public, _name)
for _public, _name in NL_UNARY.items():
    _make_unary(_public, _name)


@api("nl")
def where(condition, x, y, *, dtype=None, mask=None):
    label = "nl.where"
    if hasattr(condition, "has_slots") and not isinstance(condition, Aff):
        fail(
            "INDEXING",
            f"{label}: the condition is a condition on indices",
            rule="nl.where selects by the values of a tile",
            fix="use nisa.affine_select(pred=condition, on_true_tile=x, on_false_value=number)",
        )
    triple = [("condition", condition), ("x", x), ("y", y)]
    for argument, value in triple:
        check_operand(value, label, argument)
    checks.require_tensor(condition, label, "condition")
    shape = result_shape(label, triple)
    target = dtype_or(dtypes.promote(operand_dtype(x), operand_dtype(y)), dtype, label)
    out = new_tile(shape, target, api=label)
    return emit_map(out, [condition, x, y], [("select", 0, 1, 2)], "select", "vector", mask, label)
