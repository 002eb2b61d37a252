"""The operators of tiles: what +, <, ~, += and numpy's functions mean on a tensor."""

from .. import checks, context, dtypes
from ..affine import Aff, as_int
from ..assign import update
from ..refusals import refuse_numpy
from ..tensor import Tensor, method
from .nl_elementwise import binary_call, is_number, unary_call

# Python's name of an operator -> the function it is
_ARITHMETIC = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "pow": "power",
    "mod": "mod",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "shift_left",
    "rshift": "shift_right",
}
_IN_PLACE = ("add", "sub", "mul", "truediv")
_COMPARISONS = {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
}
_UNARY = {"neg": "negative", "abs": "abs", "invert": "invert"}
# How a message writes a function that an operator stands for; the others go by name.
_SIGNS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "power": "**",
    "mod": "%",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "equal": "==",
    "not_equal": "!=",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
}
_UFUNCS = {
    name: name
    for name in "add subtract multiply divide power equal not_equal greater greater_equal less less_equal bitwise_and "
    "bitwise_or bitwise_xor maximum minimum".split()
}
_UFUNCS["true_divide"] = "divide"


def operator_call(name, x, y):
    """The value of `x name y` for operands one of which is a tile; NotImplemented: Python asks the other one."""
    other = y if isinstance(x, Tensor) else x
    label = f"operator {_SIGNS.get(name, name)}"
    if not isinstance(other, (Tensor, Aff)) and not is_number(other) and as_int(other) is None:
        checks.refuse_host_array(other, label, "an operand")
        return NotImplemented
    trace = context.trace_or_fail("an operator")
    if trace.error is not None:
        raise trace.error
    if name.startswith("bitwise_") and _is_bool(x) and _is_bool(y):
        name = "logical_" + name[len("bitwise_") :]
    return binary_call(name, x, y, None, None, False, label)


def _is_bool(value):
    return isinstance(value, bool) or (isinstance(value, Tensor) and value.dtype is dtypes.bool_)


def _compare(name, x, y):
    """`tile == None` is Python's question, not the device's."""
    if y is None and name in ("equal", "not_equal"):
        return name == "not_equal"
    return operator_call(name, x, y)


for _sign, _name in _ARITHMETIC.items():
    setattr(Tensor, f"__{_sign}__", lambda self, other, name=_name: operator_call(name, self, other))
    setattr(Tensor, f"__r{_sign}__", lambda self, other, name=_name: operator_call(name, other, self))
for _sign in _IN_PLACE:
    setattr(Tensor, f"__i{_sign}__", lambda self, other, name=_ARITHMETIC[_sign]: update(self, name, other))
for _sign, _name in _COMPARISONS.items():
    setattr(Tensor, f"__{_sign}__", lambda self, other, name=_name: _compare(name, self, other))
for _sign, _name in _UNARY.items():
    setattr(Tensor, f"__{_sign}__", lambda self, name=_name: unary_call(name, self))


@method
def __array_ufunc__(self, ufunc, method, *inputs, **_):
    name = _UFUNCS.get(ufunc.__name__)
    tensors = sum(isinstance(x, Tensor) for x in inputs)
    if method == "__call__" and name and len(inputs) == 2 and tensors == 1:
        left, right = inputs
        return operator_call(name, left, right)
    refuse_numpy(self, {"true_divide": "divide"}.get(ufunc.__name__, ufunc.__name__))
