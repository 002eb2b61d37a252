"""nisa: vector-engine arithmetic, reductions, scans, copies, memset."""

from .. import checks, context, dtypes
from ..affine import Aff
from ..assign import check_destination
from ..checks import dtype_or
from ..context import fail
from ..emit import access, emit_fold, emit_map, emit_op, new_tile, out_tile, partition_aligned, source_of
from ..names import api
from ..nodes import Op
from ..shapes import broadcast_shapes
from ..tables import ARITHMETIC, COMPARISONS, FN, LOGICAL, REDUCTIONS, function_name
from ..tensor import Tensor
from .nisa_common import (
    ALU,
    check_integer,
    check_psum_pair,
    copy_work,
    engine,
    engine_name,
    engine_of,
    is_bitvec,
    need_op,
    vector_operand,
)
from .nl_create import create, par_dim
from .nl_elementwise import is_number
from .nl_reduce import parse_axes, reduced_shape


def _shape_of_both(label, data1, data2):
    """The shape of a tensor_tensor: free axes of size 1 repeat, with advice; partitions never do."""
    pairs = [("data1", data1), ("data2", data2)]
    if data1.shape == data2.shape:
        return data1.shape
    rank = max(data1.ndim, data2.ndim)
    a, b = (partition_aligned(t, rank).shape for _, t in pairs)
    shape = broadcast_shapes(a, b) if a[0] == b[0] and _ranks_agree(data1, data2) else None
    fix = "use nisa.tensor_scalar for a (p, 1) operand, or nl.add / nl.multiply which broadcast"
    if shape is None:
        checks.check_same_shape(label, pairs, fix, "partitions are as many, and free axes as long or 1")
    repeated = [f"{name} {list(tile.shape)}" for (name, tile), own in zip(pairs, (a, b)) if own != shape]
    if repeated:  # graded kernels of a course do it (trn2)
        context.beyond_documents(
            "SHAPE_BROADCAST",
            f"{label}: {' and '.join(repeated)} {'is' if len(repeated) == 1 else 'are'} repeated over "
            f"{list(shape)}; nisa.tensor_scalar takes one value a "
            "partition and is faster",
            "both operands have one shape",
            operands=pairs,
            fix=fix,
        )
    return shape


def _ranks_agree(a, b):
    """Of two ranks, which axis meets which is known where the smaller one has one value a partition, or lacks axes of
    size 1 alone."""
    small, large = (a, b) if a.ndim < b.ndim else (b, a)
    same = partition_aligned(small, large.ndim).shape == large.shape
    return a.ndim == b.ndim or same or all(n == 1 for n in small.shape[1:])


@api("nisa")
def tensor_tensor(data1, data2, op, *, dtype=None, mask=None, engine=engine.unknown):
    label = "nisa.tensor_tensor"
    pairs = [("data1", data1), ("data2", data2)]
    for name, tile in pairs:
        checks.check_tile(tile, label, name)
    name = need_op(op, label, "op", ALU, "op is a two-operand function of the engines")
    shape = _shape_of_both(label, data1, data2)
    data1, data2 = partition_aligned(data1, len(shape)), partition_aligned(data2, len(shape))
    check_psum_pair(label, pairs)
    where = engine_of(engine, label, ("vector", "gpsimd"), pairs)
    if name == "power" and (where == "vector" or any(t.memory == "psum" for _, t in pairs)):
        fail(
            "UNSUPPORTED_OP",
            f"{label}: power on the vector engine or in psum",
            operands=pairs,
            rule="power runs on gpsimd, which has no psum access",
            fix="copy the operand to sbuf and leave engine unset",
        )
    if is_bitvec(name):
        check_integer(label, pairs)
    out = new_tile(shape, dtype_or(dtypes.promote(data1.dtype, data2.dtype), dtype, label), api=label)
    return emit_map(
        out, [data1, data2], [(name, 0, 1)], "tensor_tensor", "gpsimd" if name == "power" else where, mask, label
    )


#: Operators of the documents' table (nki-aluop) that take one operand: an instruction of two is given 0.0 beside it.
ONE_OPERAND = ("abs", "rsqrt", "reciprocal", "logical_not")


def _is_one_operand(op, operand):
    return function_name(op) in ONE_OPERAND and is_number(operand) and float(operand) == 0.0


def _need_alu(label, argument, op, operand):
    """The name of an operator. @raises UNSUPPORTED_OP"""
    if _is_one_operand(op, operand):
        return function_name(op)
    what = f"{argument} is a two-operand function of the engines, or nl.abs, nl.rsqrt, nl.reciprocal beside 0.0"
    return need_op(op, label, argument, ALU, what)


def _two_steps(label, data, op0, operand0, reverse0, op1, operand1, reverse1):
    """(values, steps) of (data op0 operand0) op1 operand1."""
    first = _need_alu(label, "op0", op0, operand0)
    values = [data, operand0]
    steps = [(first, 0) if _is_one_operand(op0, operand0) else (first, 1, 0) if reverse0 else (first, 0, 1)]
    if op1 is None and operand1 is not None:
        fail(
            "BAD_SIGNATURE",
            f"{label}: operand1 without op1",
            operands=[("data", data), ("operand1", operand1)],
            rule="op1 and operand1 are both given or both None",
            fix="op1=np.multiply, or leave operand1 out",
        )
    if op1 is not None:
        second = _need_alu(label, "op1", op1, operand1)
        if is_bitvec(first) != is_bitvec(second):
            fail(
                "UNSUPPORTED_OP",
                f"{label}: op0={first} with op1={second}",
                operands=[("data", data)],
                rule="both are bitwise, or both are arithmetic",
                fix="make two calls",
            )
        if operand1 is None:
            fail(
                "BAD_SIGNATURE",
                f"{label}: missing value for required argument 'operand1'",
                rule="op1 needs operand1",
                fix="operand1=1.0",
            )
        values.append(operand1)
        result, other = len(values), len(values) - 1
        alone = _is_one_operand(op1, operand1)
        steps.append((second, result) if alone else (second, other, result) if reverse1 else (second, result, other))
    if is_bitvec(first):
        check_integer(label, [("data", data), ("operand0", operand0)])
    return values, steps


@api("nisa")
def tensor_scalar(
    data,
    op0,
    operand0,
    reverse0=False,
    op1=None,
    operand1=None,
    reverse1=False,
    *,
    dtype=None,
    mask=None,
    engine=engine.unknown,
):
    label = "nisa.tensor_scalar"
    checks.check_tile(data, label, "data")
    operand0 = vector_operand(operand0, data, label, "operand0")
    operand1 = vector_operand(operand1, data, label, "operand1") if operand1 is not None else None
    values, steps = _two_steps(label, data, op0, operand0, reverse0, op1, operand1, reverse1)
    tiles = [("data", data), ("operand0", operand0), ("operand1", operand1)]
    where = engine_of(engine, label, ("vector", "scalar", "gpsimd"), tiles)
    if where == "gpsimd" and not any(step[0] == "rsqrt" for step in steps):
        fail(
            "UNSUPPORTED_OP",
            f"{label}: {' and '.join(step[0] for step in steps)} on gpsimd",
            operands=[("data", data)],
            rule="gpsimd runs nl.rsqrt alone of this instruction's operators",
            fix="engine=nisa.vector_engine, or leave engine out",
        )
    return emit_map(out_tile(data, dtype, label), values, steps, "tensor_scalar", where, mask, label)


@api("nisa")
def tensor_scalar_reduce(*, data, op0, operand0, reduce_op, reduce_res, reverse0=False, dtype=None, mask=None):
    label = "nisa.tensor_scalar_reduce"
    checks.check_tile(data, label, "data")
    if reverse0:
        fail(
            "UNSUPPORTED_OP",
            f"{label}: reverse0",
            rule="reverse0 is not supported here",
            fix="swap the operation, e.g. multiply by -1 and add",
        )
    need_op(op0, label, "op0", ARITHMETIC + COMPARISONS + LOGICAL + ONE_OPERAND, "op0 is arithmetic, not bitwise")
    values, steps = _two_steps(
        label, data, op0, vector_operand(operand0, data, label, "operand0"), False, None, None, False
    )
    legal = ("add", "subtract", "multiply", "maximum", "minimum")
    name = need_op(reduce_op, label, "reduce_op", legal, "reduce_op is add, subtract, multiply, max or min")
    check_reduced(label, reduce_res, data)
    axes = list(range(1, data.ndim))
    emit_fold(
        partition_aligned(reduce_res, data.ndim),
        *_folded_by(name, data, values, steps, axes),
        axes,
        "tensor_scalar_reduce",
        "vector",
        mask,
        label,
        shape=data.shape,
    )
    return emit_map(out_tile(data, dtype, label), values, steps, "part_of_former", "vector", mask, label)


def _folded_by(name, data, values, steps, axes):
    """(values, steps, function) of a fold by `name`. One by subtract takes all values from the first: the sum of the
    first and of the others' negatives."""
    if name != "subtract":
        return values, steps, name
    place = Aff(0, {}, tuple(1 if k in axes and n > 1 else 0 for k, n in enumerate(data.shape)), data.shape)
    values = [*values, place]
    steps = [(f, *(k + 1 if k >= len(values) - 1 else k for k in operands)) for f, *operands in steps]
    last = len(values) + len(steps) - 1 if steps else 0
    return values, [*steps, ("negative", last), ("select", len(values) - 1, len(values) + len(steps), last)], "add"


def check_reduced(label, reduce_res, data):
    """reduce_res is written in place: one value a partition of data."""
    checks.require_tensor(reduce_res, label, "reduce_res")
    check_destination(reduce_res, label)
    if reduce_res.shape[0] != data.shape[0] or any(n != 1 for n in reduce_res.shape[1:]):
        fail(
            "SHAPE_BROADCAST",
            f"{label}: reduce_res has shape {list(reduce_res.shape)}",
            operands=[("data", data), ("reduce_res", reduce_res)],
            rule=f"reduce_res is a tile of shape ({data.shape[0]}, 1)",
            fix="reduce_res = nl.ndarray((p, 1), dtype=nl.float32)",
        )


@api("nisa")
def scalar_tensor_tensor(*, data, op0, operand0, op1, operand1, reverse0=False, reverse1=False, dtype=None, mask=None):
    label = "nisa.scalar_tensor_tensor"
    checks.check_tile(data, label, "data")
    checks.check_tile(operand1, label, "operand1")
    pairs = [("data", data), ("operand1", operand1)]
    checks.check_same_shape(label, pairs, "operand1 is a full tile of data's shape")
    check_psum_pair(label, pairs)
    values, steps = _two_steps(
        label, data, op0, vector_operand(operand0, data, label, "operand0"), reverse0, op1, operand1, reverse1
    )
    out = new_tile(
        data.shape,
        dtype_or(dtypes.promote(data.dtype, operand1.dtype), dtype, label),
        api=label,
    )
    return emit_map(out, values, steps, "scalar_tensor_tensor", "vector", mask, label)


@api("nisa")
def tensor_reduce(op, data, axis, *, mask=None, dtype=None, negate=False, keepdims=False):
    label = "nisa.tensor_reduce"
    checks.check_tile(data, label, "data")
    name = need_op(op, label, "op", (*REDUCTIONS, "subtract"), "op is legal as a reduction")
    axes = parse_axes(label, data, axis)
    if axes != list(range(axes[0], data.ndim)):
        context.beyond_documents(  # graded kernels of a course do it (trn2)
            "UNSUPPORTED_OP",
            f"{label}: axes {axes} of a tile of rank {data.ndim} are not its last ones",
            "the axes that are reduced are the last ones",
            operands=[("data", data)],
            fix="reduce the last axes, one call after the other, or view the tile with these axes last",
        )
    if is_bitvec(name):
        check_integer(label, [("data", data)])
        if negate:
            fail(
                "UNSUPPORTED_OP",
                f"{label}: negate with {name}",
                operands=[("data", data)],
                rule="negate is only applicable when op is an arithmetic operator",
                fix="leave negate out",
            )
    out = out_tile(data, dtype, label, reduced_shape(data.shape, axes, keepdims))
    values, steps, name = _folded_by(name, data, [data], [], axes)
    return emit_fold(out, values, steps, name, axes, "tensor_reduce", "vector", mask, label, negate, shape=data.shape)


@api("nisa")
def tensor_partition_reduce(op, data, *, mask=None, dtype=None):
    label = "nisa.tensor_partition_reduce"
    checks.check_tile(data, label, "data", ("sbuf",))
    name = need_op(
        op, label, "op", ("add", "maximum", "bitwise_or", "bitwise_and"), "op is add, max, bitwise_or or bitwise_and"
    )
    out = out_tile(data, dtype, label, (1,) + data.shape[1:])
    return emit_fold(out, [data], [], name, [0], "partition_reduce", "gpsimd", mask, label, shape=data.shape)


_COMMUTE = (
    "add",
    "multiply",
    "maximum",
    "minimum",
    "logical_and",
    "logical_or",
    "logical_xor",
    "equal",
    "not_equal",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
)
_MIRROR = {"less": "greater", "greater": "less", "less_equal": "greater_equal", "greater_equal": "less_equal"}


def _without_reverse(first, second, reverse0, reverse1):
    """(op0, op1, is data0 negated) of the same scan without reversed operands, exact in floating point; None if there
    is none."""
    negated = False
    if reverse0 and first == "subtract":  # r - d0 = -d0 + r
        first, negated = "add", True
    elif reverse0 and first not in _COMMUTE:
        first = _MIRROR.get(first)
    if reverse1 and second == "subtract":  # d1 - (d0 op0 r) = -(d0 op0 r) + d1
        first, second, negated = (
            {"multiply": "multiply", "add": "subtract", "subtract": "add"}.get(first),
            "add",
            not negated,
        )
    elif reverse1 and second not in _COMMUTE:
        second = _MIRROR.get(second)
    return None if first is None or second is None else (first, second, negated)


@api("nisa")
def tensor_tensor_scan(data0, data1, initial, op0, op1, reverse0=False, reverse1=False, *, dtype=None, mask=None):
    label = "nisa.tensor_tensor_scan"
    pairs = [("data0", data0), ("data1", data1)]
    for name, tile in pairs:
        checks.check_tile(tile, label, name)
    checks.check_same_shape(label, pairs, "both have the same partitions and elements")
    check_psum_pair(label, pairs)
    legal = ARITHMETIC + COMPARISONS + LOGICAL
    first = need_op(op0, label, "op0", legal, "op0 is a binary arithmetic operator")
    second = need_op(op1, label, "op1", legal, "op1 is a binary arithmetic operator")
    plain = _without_reverse(first, second, reverse0, reverse1)
    if plain is None:
        fail(
            "UNSUPPORTED_OP",
            f"{label}: reverse with {first}, {second} is not in this version of the simulator",
            operands=pairs,
            rule="operands are reversed of subtract, comparisons and functions that commute",
            fix="use one of these functions",
        )
    first, second, negated = plain
    kept, data0 = (
        data0,
        emit_map(
            new_tile(data0.shape, dtypes.float32, api=label),
            [data0],
            [("negative", 0)],
            "part_of_former",
            api=label,
            mask=mask,
        )
        if negated
        else data0,
    )
    initial = vector_operand(initial, data0, label, "initial")
    shape = data0.shape
    items = checks.check_mask(mask, shape, label)
    out = new_tile(shape, dtype_or(dtypes.promote(kept.dtype, data1.dtype), dtype, label), api=label)
    sources = [source_of(v, shape, items, label) for v in (data0, data1, initial)]
    target = access(out, shape, items, label, writes=True)
    emit_op(
        Op.SCAN,
        "scan",
        "vector",
        shape,
        items,
        target,
        sources,
        extra=(FN[first], FN[second]),
    )
    return out


@api("nisa")
def tensor_copy(src, *, mask=None, dtype=None, engine=engine.unknown):
    label = "nisa.tensor_copy"
    checks.check_tile(src, label, "src")
    where = engine_of(engine, label, ("vector", "scalar", "gpsimd"), [("src", src)])
    return emit_map(
        out_tile(src, dtype, label), [src], [], "tensor_copy", where, mask, label, work=copy_work(src, where)
    )


@api("nisa")
def tensor_copy_predicated(*, src, dst, predicate, reverse_pred=False, mask=None, dtype=None):
    label = "nisa.tensor_copy_predicated"
    checks.check_tile(predicate, label, "predicate")
    checks.require_tensor(dst, label, "dst")
    check_destination(dst, label)
    operands = [("dst", dst), ("predicate", predicate)]
    if isinstance(src, Tensor):
        checks.check_tile(src, label, "src")
        operands.append(("src", src))
        if src.dtype is not dst.dtype:
            fail(
                "DTYPE",
                f"{label}: src is {src.dtype}, dst is {dst.dtype}",
                operands=operands,
                rule="src and dst have one dtype",
                fix="cast src first",
            )
        check_psum_pair(label, [("src", src), ("predicate", predicate)])
    elif not is_number(src):
        checks.require_tensor(src, label, "src")
    if predicate.dtype.kind not in "ub":  # bool is stored as uint8
        fail(
            "DTYPE",
            f"{label}: predicate is {predicate.dtype}",
            operands=operands,
            rule="predicate is uint8, uint16 or uint32",
            fix="a comparison gives one, e.g. nl.greater(x, 0, dtype=nl.uint8); nl.copy(predicate, dtype=nl.uint8) of "
            "zeros and ones",
        )
    checks.check_same_shape(label, operands, "all have one shape")
    values = [predicate, dst, src] if reverse_pred else [predicate, src, dst]
    emit_map(dst, values, [("select", 0, 1, 2)], "copy_predicated", "vector", mask, label)


@api("nisa")
def reciprocal(data, *, dtype=None, mask=None):
    label = "nisa.reciprocal"
    checks.check_tile(data, label, "data")
    return emit_map(out_tile(data, dtype, label), [data], [("reciprocal", 0)], "reciprocal", "vector", mask, label)


@api("nisa")
def memset(shape, value, dtype, *, mask=None, engine=engine.unknown):
    label = "nisa.memset"
    where = engine_name(engine, label, ("vector", "gpsimd"))
    if not is_number(value):
        fail(
            "BAD_SIGNATURE",
            f"{label}: value is {type(value).__name__}",
            operands=[("value", value)],
            rule="value is a number",
            fix="value=0.0",
        )
    plain = [n.n if isinstance(n, par_dim) else n for n in (shape if isinstance(shape, (tuple, list)) else (shape,))]
    out = create(label, tuple(plain), dtype, None, "", None)
    return emit_map(out, [float(value)], [], "memset", where, mask, label)
