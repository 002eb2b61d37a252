"""What Python asks of an index or a tensor and a trace cannot answer: each says why and what to write."""

import re

from . import names
from .context import called, current, fail
from .shapes import foreign
from .tables import function_name


class IndexRefusals:
    """Base of indices. A loop body is traced once: no index is a number, and only affine arithmetic stays an index."""

    __slots__ = ()

    def __truediv__(self, other):
        if foreign(other):
            return NotImplemented
        fail(
            "INDEXING",
            f"index {self} / {other} is not an integer",
            rule="indices are integers",
            fix="use // with a constant",
        )

    def _no_symbolic(self, other, sign):
        if foreign(other):
            return NotImplemented
        fail(
            "INDEXING",
            f"{sign} with index {self} is not affine",
            rule="indices are affine",
            fix="compute with compile-time constants",
        )

    def __rtruediv__(self, other):
        return self._no_symbolic(other, "/")

    def __rfloordiv__(self, other):
        return self._no_symbolic(other, "//")

    def __rmod__(self, other):
        return self._no_symbolic(other, "%")

    def __pow__(self, other):
        return self._no_symbolic(other, "**")

    def __rpow__(self, other):
        return self._no_symbolic(other, "**")

    def __hash__(self):
        fail(
            "CONTROL_FLOW",
            f"loop index {self} is used as a dictionary key or set member",
            rule="a loop body is traced once, with a symbolic index",
            fix="use nl.static_range, or one tensor with a leading index",
        )

    def __bool__(self):
        fail(
            "CONTROL_FLOW",
            f"the truth of index {self} is asked for",
            rule="a loop body is traced once, with a symbolic index",
            fix="compare it: `if i == 0:`; join conditions with &",
        )

    def __setitem__(self, key, value):
        fail(
            "INDEXING",
            "an index is assigned to",
            rule="indices are compile-time values",
            fix="use nisa.iota to make a tile of indices",
            official="cannot_assign_to_index",
        )

    def __iter__(self):
        fail(
            "INDEXING",
            f"index {self} is iterated over",
            rule="indices are compile-time values",
            fix="loop with nl.affine_range",
        )


def _no_operator(sign, fix):
    def refuse(self, _other):
        fail(
            "UNKNOWN_API",
            f"operator {sign} on a tile",
            operands=[("tile", self)],
            rule="tiles have + - * / ** % & | ^ << >> and comparisons",
            fix=fix,
            kind=TypeError,
        )

    return refuse


def refuse_numpy(tensor, function=""):
    """numpy is given a tile. @param function the ufunc's name, where numpy told it"""
    call = re.sub(r"^np\.", "numpy.", called()) or (f"numpy.{function}" if function else "numpy")
    advice = names.instead_of(call) or names.instead_of(function)
    as_op = f", or pass np.{function} as op= of a nisa instruction" if function_name(function) else ""
    fail(
        "UNKNOWN_API",
        f"{call} is called on a tile",
        operands=[("tile", tensor)],
        rule="inside a kernel data exists on the device only; numpy functions serve as op= names",
        fix=(f"call {advice}{as_op}" if advice.startswith(("nl.", "nisa.")) else f"write {advice}")
        if advice
        else f"spell it with nl functions{as_op}",
        kind=TypeError,
    )


def _refuse_call(tensor):
    """A function of Python, math or numpy that asks a tile for its numbers: the nl function of its kind is named."""
    call = called()
    advice = names.instead_of(call) if call else ""
    if advice:
        fail(
            "CONTROL_FLOW",
            f"{call}() is called on a tile",
            operands=[("tile", tensor)],
            rule="a kernel is traced without data: Python's functions find no numbers in a tile",
            fix=f"call {advice}" if advice.startswith(("nl.", "nisa.")) else advice,
            kind=TypeError,
        )


class TensorRefusals:
    """Base of tensors. A kernel is traced without data: a tensor has neither a truth nor elements."""

    __slots__ = ()
    __matmul__ = __rmatmul__ = _no_operator("@", "nl.matmul(x, y) or nisa.nc_matmul(stationary, moving)")
    __floordiv__ = __rfloordiv__ = _no_operator("//", "nl.floor(nl.divide(x, y))")

    def __iter__(self):
        _refuse_call(self)
        fail(
            "CONTROL_FLOW",
            "a tensor is iterated over",
            operands=[("tensor", self)],
            rule="a kernel is traced once, without data",
            fix="loop with nl.affine_range over the first axis and index the tensor",
            kind=TypeError,
        )

    def __bool__(self):
        _refuse_call(self)
        fail(
            "CONTROL_FLOW",
            "the truth value of a tensor is asked for",
            operands=[("tensor", self)],
            rule="a kernel is traced without data: values cannot steer Python",
            fix="select values with nl.where(condition, x, y)",
            official="dynamic_control_flow_not_supported"
            if current() is None or current().options.sdk < (2, 26)
            else "ambiguous_tensor_truth_value",
        )

    def __index__(self):
        _refuse_call(self)
        fail(
            "CONTROL_FLOW",
            "a tensor is used as a Python integer",
            operands=[("tensor", self)],
            rule="a kernel is traced without data",
            fix="use compile-time integers, or indirect indexing of the partition axis in nl.load and nl.store",
            kind=TypeError,
        )

    __int__ = __float__ = __round__ = __index__

    def __contains__(self, _):
        return self.__bool__()

    def __array__(self, *_, **__):
        refuse_numpy(self)

    def __getattr__(self, attribute):
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        raise names.unknown_tile_attribute(self, attribute)
