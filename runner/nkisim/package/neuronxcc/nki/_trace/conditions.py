"""Conjunctions of conditions on indices: masks and the tests of symbolic branches."""

import dis
import sys

from .context import fail
from .shapes import broadcast_shapes, foreign
from .tables import CONDITION


class Cond:
    """A conjunction of (kind, Aff); TEXTS says what a kind says of its index.

    shape: None when the conditions do not broadcast to one; a matmul's may not, its axes K, M and N are three."""

    __slots__ = ("items", "shape")
    __array_ufunc__ = None
    NOT_NEGATIVE, ZERO, NOT_ZERO = (CONDITION[name] for name in ("not_negative", "zero", "not_zero"))
    TEXTS = {NOT_NEGATIVE: ">= 0", ZERO: "== 0", NOT_ZERO: "!= 0"}

    def __init__(self, items, shape):
        self.items, self.shape = items, shape

    def __repr__(self):
        return "condition " + " & ".join(f"{e} {self.TEXTS[kind]}" for kind, e in self.items)

    @property
    def has_slots(self):
        return any(e.has_slots for _, e in self.items)

    def __and__(self, other):
        if isinstance(other, Cond):
            both = self.shape is not None and other.shape is not None
            return Cond(self.items + other.items, broadcast_shapes(self.shape, other.shape) if both else None)
        if foreign(other):
            fail(
                "INDEXING",
                "a mask is joined with a tensor value",
                operands=[("value", other)],
                rule="a mask is a compile-time condition on indices",
                fix="use nl.where(condition, x, y) for values",
                official="unsupported_expression_in_mask",
            )
        if type(other).__name__ in ("bool", "bool_"):  # Python's and numpy's, without loading numpy
            return self if other else Cond([(Cond.NOT_NEGATIVE, self.items[0][1].constant(-1))], self.shape)
        fail(
            "INDEXING",
            f"a condition is joined with {other!r}",
            rule="conditions are joined with & and parentheses",
            fix="(a < n) & (b < m)",
        )

    __rand__ = __and__

    def __or__(self, other):
        fail(
            "INDEXING",
            "| in a mask or condition",
            rule="only & joins conditions on indices",
            fix="split the operation in two, one for each condition",
            official="unsupported_expression_in_mask",
        )

    __ror__ = __or__

    def __invert__(self):
        fail(
            "INDEXING",
            "~ in a mask or condition",
            rule="only & joins conditions on indices",
            fix="write the opposite comparison",
            official="unsupported_expression_in_mask",
        )

    def decided(self):
        """What the bounds of the loops say of it, whatever the trip: min(512, n - i * 512) where 512 divides n. None
        where trips differ."""
        if self.has_slots:
            return None
        if any(always_holds(*opposite(kind, e)) for kind, e in self.items):
            return False
        return True if all(always_holds(kind, e) for kind, e in self.items) else None

    def __bool__(self):
        if self.has_slots:
            fail(
                "INDEXING",
                "a mask is built with and, or, not, min, or a chained comparison",
                rule="masks are joined with & only",
                fix="(i_p < n) & (i_f < m), each comparison in parentheses",
                official="unsupported_expression_in_mask",
            )
        known = self.decided()
        if known is not None:
            return known
        if _in_a_call(sys._getframe(1)):
            fail(
                "CONTROL_FLOW",
                "a size or index that depends on loop variables is compared in min, max, any, all or bool",
                rule="loop variables are compile-time symbols, and a tile has one shape in all trips: the size of the "
                "last, partial one is no Python number",
                fix="keep the tile whole and mask what lies beyond, in nl.load and in nl.store: "
                "nl.load(x[i * 128 + i_p, i_f], mask=(i * 128 + i_p < rows)) with i_p = nl.arange(128)[:, None]",
            )
        fail(
            "CONTROL_FLOW",
            "a condition on loop variables is used as a Python truth value (and, or, not, while, ternary, assert)",
            rule="conditions on loop variables are compile-time symbols; `if` alone understands them",
            fix="join conditions with & and write a plain `if` statement: `if (i > 0) & (j == 0):`",
        )


def _in_a_call(frame):
    """Does a builtin ask (it has no frame of its own), instead of a branch of the kernel?"""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith(("CALL", "PRECALL"))


def holds(kind, value):
    """Is the condition true of an integer?"""
    return value >= 0 if kind == Cond.NOT_NEGATIVE else (value == 0) == (kind == Cond.ZERO)


def always_holds(kind, e):
    """Is the condition proved, by the bounds of its index over all trips, programs and points?"""
    lo, hi = e.bounds()
    if kind == Cond.NOT_NEGATIVE:
        return lo >= 0
    return lo == hi == 0 if kind == Cond.ZERO else lo > 0 or hi < 0


def opposite(kind, e):
    """The one condition that holds where this one does not: e < 0 is -e - 1 >= 0 for integers."""
    if kind == Cond.NOT_NEGATIVE:
        return kind, -e - 1
    return Cond.NOT_ZERO if kind == Cond.ZERO else Cond.ZERO, e
