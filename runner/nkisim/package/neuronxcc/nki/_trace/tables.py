"""The numbers of the program form by name (runner/nkisim/numbers/numbers.def), and names that mean a function."""

from . import numbers


def _by_name(rows):
    return {row[1]: row[0] for row in rows}


def _names(rows):
    """{number: name}"""
    return {row[0]: row[1] for row in rows}


FN, FN_NAMES = _by_name(numbers.FN), _names(numbers.FN)
INSTR, INSTR_NAMES = _by_name(numbers.INSTR), _names(numbers.INSTR)
ENGINE, ENGINE_NAMES = _by_name(numbers.ENGINE), _names(numbers.ENGINE)
BUFFER, BUFFER_NAMES = _by_name(numbers.BUFFER), _names(numbers.BUFFER)
ATOM, ATOM_NAMES = _by_name(numbers.ATOM), _names(numbers.ATOM)
NODE, NODE_NAMES = _by_name(numbers.NODE), _names(numbers.NODE)
WORK, WORK_NAMES = _by_name(numbers.WORK), _names(numbers.WORK)
SPECIAL, CONDITION, SOURCE = _by_name(numbers.SPECIAL), _by_name(numbers.CONDITION), _by_name(numbers.SOURCE)
WORK_F32, WORK_I32, WORK_RAW = WORK["float32"], WORK["int32"], WORK["raw"]
ARITY = {number: arity for number, _, arity, *_ in numbers.FN}


def _functions(test):
    return tuple(row[1] for row in numbers.FN if test(*row[1:]))


def _binary(kind):
    return _functions(lambda name, arity, group, *_: arity == 2 and group == kind)


ARITHMETIC, BITVEC, COMPARISONS, LOGICAL = map(_binary, ("arithmetic", "bitwise", "comparison", "logical"))
REDUCTIONS = _functions(lambda name, arity, group, work, folds, *_: folds == "yes")
ACTIVATIONS = _functions(lambda name, arity, group, work, folds, activates, nl: activates == "yes")
# of integer work alone, and those whose int32 results the engines compute exactly
BITWISE = _functions(lambda name, arity, group, work, *_: work == "int32")
EXACT_INTEGER = _functions(lambda name, arity, group, work, *_: work in ("int32", "exact"))
# public name in nl -> function, of one and of two operands
NL_UNARY, NL_BINARY = (
    {nl: name for _, name, arity, *_, nl in numbers.FN if nl != "none" and arity == count} for count in (1, 2)
)

# Names of numpy ufuncs, nl functions and strings that mean one of FN.
ALIASES = NL_BINARY | {
    "amax": "maximum",
    "max": "maximum",
    "amin": "minimum",
    "min": "minimum",
    "sum": "add",
    "prod": "multiply",
    "true_divide": "divide",
    "absolute": "abs",
    "sub": "subtract",
    "mul": "multiply",
    "bitwise_not": "invert",
    "remainder": "mod",
    "float_power": "power",
    "all": "logical_and",
    "any": "logical_or",
    "identity": "copy",
    "conjugate": "copy",
}


def function_name(op):
    """The FN name that `op` (numpy ufunc, nl function, string) means, or None."""
    name = op if isinstance(op, str) else getattr(op, "__name__", None)
    if not isinstance(name, str):
        return None
    name = ALIASES.get(name, name)
    return name if name in FN else None
