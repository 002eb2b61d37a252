"""nisa: enums and checks that several instructions share."""

import enum

from .. import checks
from ..affine import Aff
from ..context import fail
from ..emit import partition_aligned
from ..tables import ARITHMETIC, BITVEC, COMPARISONS, LOGICAL, WORK_F32, function_name
from ..tensor import Tensor
from .nl_elementwise import is_number


class engine(enum.Enum):
    tensor, vector, scalar, gpsimd, sync, unknown = 1, 5, 2, 3, 6, 0


dma_engine = "dma"  # documented as a value; no instruction takes it


class reduce_cmd(enum.Enum):
    idle, reset, reduce, reset_reduce = 0, 1, 2, 3


class oob_mode(enum.Enum):
    error, skip = 0, 1


class dge_mode(enum.Enum):
    none, swdge, hwdge, unknown = 0, 1, 2, 3


class nc_version(enum.IntEnum):
    gen2, gen3 = 2, 3


def engine_name(value, label, allowed):
    """The program form's engine of an `engine=` argument."""
    name = getattr(value, "name", None)
    if name is None and isinstance(value, int):
        name = {e.value: e.name for e in engine}.get(value)
    if name == "unknown" or name is None or value is None:
        return "unknown"
    if name not in allowed:
        fail(
            "UNSUPPORTED_OP",
            f"{label}: engine {name}",
            rule=f"{label} runs on {', '.join(allowed)}",
            fix=f"engine=nisa.{allowed[0]}_engine",
        )
    return name


def engine_of(value, label, allowed, tiles):
    """engine_name(), where the operands are what it can read. @param tiles [(argument, tile or number)]"""
    name = engine_name(value, label, allowed)
    if name == "gpsimd" and any(getattr(tile, "memory", "") == "psum" for _, tile in tiles):
        fail(
            "WRONG_MEMORY",
            f"{label}: gpsimd reads psum",
            operands=tiles,
            rule="gpsimd has no psum access",
            fix="engine=nisa.vector_engine",
            official="unsupported_memory",
        )
    return name


def copy_work(src, where):
    """The work of a copy: the scalar engine casts to float32 and back, which 32-bit integers do not survive."""
    return WORK_F32 if where == "scalar" and src.dtype.is_integer and src.dtype.bits == 32 else None


def need_op(op, label, argument, legal, what):
    name = function_name(op)
    if name is None:
        fail(
            "UNSUPPORTED_OP",
            f"{label}: {argument}={getattr(op, '__name__', op)!r} is no known function",
            rule=what,
            fix=f"{argument}=np.add, nl.add, np.maximum, nl.exp, ...",
            kind=TypeError,
        )
    if name not in legal:
        fail(
            "UNSUPPORTED_OP",
            f"{label}: {argument}={name} is not supported",
            rule=what,
            fix="legal: " + ", ".join(legal),
            kind=NotImplementedError,
        )
    return name


ALU = ARITHMETIC + BITVEC + COMPARISONS + LOGICAL


def is_bitvec(name):
    return name in BITVEC


def vector_operand(value, data, label, argument, rank=None):
    """A number, an index scalar or a (p, 1) tile beside `data`."""
    if is_number(value) or isinstance(value, Aff):
        return value
    checks.check_tile(value, label, argument)
    operands = [("data", data), (argument, value)]
    if any(n != 1 for n in value.shape[1:]) or value.shape[0] not in (data.shape[0],):
        fail(
            "SHAPE_BROADCAST",
            f"{label}: {argument} has shape {list(value.shape)}",
            operands=operands,
            rule=f"{argument} is a number or a tile of shape ({data.shape[0]}, 1): one value a partition",
            fix="use nisa.tensor_tensor for full tiles, or nl.multiply / nl.add which broadcast",
            official="num_partition_mismatch" if value.shape[0] != data.shape[0] else "",
        )
    return partition_aligned(value, rank or data.ndim)


def check_psum_pair(label, pairs):
    tiles = [v for _, v in pairs if isinstance(v, Tensor)]
    if len(tiles) > 1 and all(t.memory == "psum" for t in tiles):
        fail(
            "WRONG_MEMORY",
            f"{label}: both operands are in psum",
            operands=pairs,
            rule="at most one of the two tiles is in psum",
            fix="copy one to sbuf first: nisa.tensor_copy(t)",
            official="unsupported_memory",
        )


def check_integer(label, pairs):
    for argument, value in pairs:
        if isinstance(value, Tensor) and value.dtype.is_float:
            fail(
                "DTYPE",
                f"{label}: bitwise function on {argument} of dtype {value.dtype}",
                operands=pairs,
                rule="bitwise functions take integers",
                fix="cast to int32, or use arithmetic",
            )
