"""nl.rand, nl.random_seed, nl.dropout, nisa.dropout: a counter-based stream, the same on every run.

The hardware's stream cannot be matched. Each element hashes (seed, call, loop trips, program, place) with the integer
mixer "lowbias32" (C. Wellons, public domain) in int32 work, so a program stays free of state and of order."""

from .. import checks, context, dtypes
from ..affine import Aff
from ..checks import need_dtype
from ..context import fail
from ..emit import emit_map, new_tile, out_tile
from ..names import api
from ..tables import WORK_I32
from ..tensor import Tensor
from .nisa_common import vector_operand
from .nl_create import parse_shape
from .nl_elementwise import is_number

_MIX = (
    ("shift_right", 16),
    ("multiply", 0x21F0AAAD),
    ("shift_right", 15),
    ("multiply", 0xD35A2D97),
    ("shift_right", 15),
)
_GOLDEN = 0x9E3779B9
_SCALE = 2.0**-24


def signed(value):
    """The int32 with these 32 bits."""
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


class _Steps:
    """Steps over sources that are known from the start: sources first, then one number a step."""

    def __init__(self, values):
        self.values = list(values)
        self.constants = {c: len(self.values) + k for k, c in enumerate(sorted({signed(c) for _, c in _MIX} | {8}))}
        self.values += [float(c) for c in self.constants]
        self.steps = []

    def add(self, name, a, b):
        self.steps.append((name, a, b))
        return len(self.values) + len(self.steps) - 1

    def mix(self, x):
        for name, constant in _MIX:
            y = self.add(name, x, self.constants[signed(constant)])
            x = y if name == "multiply" else self.add("bitwise_xor", x, y)
        return x


def _trips(trace, since):
    """One integer that differs between trips and programs (modulo 2^31).

    A seed that the kernel sets begins its sequence anew: only loops entered after it count, so that a backward pass
    that sets the same seed draws the same numbers, whatever its loops."""
    stride, total = 1, Aff(0)
    atoms = [(r.node.atom, r.node.trips) for r in trace.enclosing(since) if r.kind == "loop"]
    programs = [] if since is not None else [(trace.program_id(k), n) for k, n in enumerate(trace.grid)]
    pairs = [(Aff(0, {atom: 1}), trips) for atom, trips in atoms] + programs
    for index, count in pairs:
        total = total + index * (stride % (1 << 31))
        stride *= max(1, count)
    return total


def _bits(shape, label, mask=None):
    """An int32 tile of 24 random bits an element."""
    trace = context.current()
    trace.random_calls += 1
    slots, stride = [0] * len(shape), 1
    for k in range(len(shape) - 1, -1, -1):
        slots[k] = stride if shape[k] > 1 else 0
        stride *= shape[k]
    place = Aff(0, {}, tuple(slots), tuple(shape))
    seed, since = trace.seed
    if since is not None and not since.open:  # set in a loop or branch that is over: its value is gone with it
        seed, since = 0, None
    if isinstance(seed, int):
        seed = float(signed(seed))
    work = _Steps([place, _trips(trace, since), seed, float(signed(trace.random_calls * _GOLDEN))])
    key = work.mix(work.add("add", work.add("add", 1, 3), 2))
    value = work.mix(work.add("add", work.mix(key), 0))
    work.add("shift_right", value, work.constants[8])
    out = new_tile(shape, dtypes.int32, api=label)
    return emit_map(out, work.values, work.steps, "random", "gpsimd", mask, label, work=WORK_I32)


@api("nl")
def rand(shape, dtype=dtypes.float32):
    label = "nl.rand"
    shape, _ = parse_shape(label, shape)
    target = need_dtype(dtype, label)
    if target.is_integer:
        fail("DTYPE", f"{label}: dtype {target}", rule="values lie in [0, 1): a float type", fix="dtype=nl.float32")
    if len(shape) < 2:
        fail(
            "RANK_LAYOUT",
            f"{label}: Insufficient rank, shape {list(shape)}",
            rule="tiles have rank >= 2",
            fix=f"({shape[0]}, 1)",
        )
    checks.check_partition_count(
        label,
        shape[0],
        rule="at most 128 partitions",
        fix="fill tiles of 128 rows in a loop",
    )
    bits = _bits(shape, label)
    return emit_map(
        new_tile(shape, target, api=label),
        [bits, _SCALE],
        [("multiply", 0, 1)],
        "part_of_former",
        "gpsimd",
        None,
        label,
    )


@api("nl")
def random_seed(seed, *, mask=None):
    label = "nl.random_seed"
    trace = context.current()
    if isinstance(seed, Tensor):
        checks.check_tile(seed, label, "seed")
        if any(n != 1 for n in seed.shape) or not seed.dtype.is_integer:
            fail(
                "DTYPE",
                f"{label}: seed is not one integer",
                operands=[("seed", seed)],
                rule="an integer, or an integer tile of shape (1, 1)",
                fix="nl.random_seed(seed=nl.load(seed_tensor[0:1, 0:1]))",
            )
    elif not isinstance(seed, Aff) and (not is_number(seed) or not float(seed).is_integer()):
        fail(
            "BAD_SIGNATURE",
            f"{label}: seed is {type(seed).__name__}",
            operands=[("seed", seed)],
            rule="an integer or a (1, 1) integer tile",
            fix="seed=7",
        )
    trace.seed, trace.random_calls = (seed if isinstance(seed, (Tensor, Aff)) else int(seed), trace.region), 0


def _drop(label, data, probability, dtype, mask):
    target = need_dtype(dtype, label) if dtype is not None else None
    items = checks.check_mask(mask, data.shape, label)
    bits = _bits(data.shape, label, items)
    out = out_tile(data, target, label)
    return emit_map(
        out,
        [bits, _SCALE, probability, data, 0.0],
        [("multiply", 0, 1), ("less", 5, 2), ("select", 6, 4, 3)],
        "part_of_former",
        "vector",
        items,
        label,
    )


@api("nl")
def dropout(x, rate, *, dtype=None, mask=None):
    label = "nl.dropout"
    checks.check_tile(x, label, "x")
    _check_probability(label, "rate", rate)
    if isinstance(rate, Tensor):
        checks.check_tile(rate, label, "rate")
        if all(n == 1 for n in rate.shape) and x.shape[0] != 1:
            rate = rate.broadcast_to((x.shape[0],) + (1,) * (x.ndim - 1))
        else:
            rate = vector_operand(rate, x, label, "rate")
    return _drop(label, x, rate, dtype, mask)


@api("nisa", "dropout")
def nisa_dropout(data, prob, *, mask=None, dtype=None):
    label = "nisa.dropout"
    checks.check_tile(data, label, "data")
    _check_probability(label, "prob", prob)
    if isinstance(prob, Tensor) and data.dtype.is_integer and prob.dtype is not dtypes.float32:
        fail(
            "DTYPE",
            f"{label}: prob is {prob.dtype}",
            operands=[("data", data), ("prob", prob)],
            rule="prob of integer data is float32",
            fix="cast prob to nl.float32",
        )
    if data.dtype.is_integer and checks.dtype_or(data.dtype, dtype, label) is not data.dtype:
        fail(
            "DTYPE",
            f"{label}: {data.dtype} data and a result of {checks.need_dtype(dtype, label)}",
            operands=[("data", data)],
            rule="the output data type must match the input data type if that is any of the integer types",
            fix="leave dtype out and cast the result, or cast data to nl.float32 first",
        )
    return _drop(label, data, vector_operand(prob, data, label, "prob"), dtype, mask)


def _check_probability(label, name, value):
    if is_number(value) and not 0 <= float(value) <= 1:
        fail(
            "BAD_SIGNATURE",
            f"{label}: {name} is {value}",
            rule="a probability between 0 and 1",
            fix=f"{name}=0.1",
            kind=ValueError,
        )
