"""Conjunctions of conditions on indices: masks and the tests of symbolic branches."""

from .context import fail


def broadcast_shapes(a, b):
    """Numpy's rule, or None when the shapes do not fit."""
    if a == b:
        return a
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    out = []
    for x, y in zip(a, b):
        if x != y and x != 1 and y != 1:
            return None
        out.append(y if x == 1 else x)
    return tuple(out)


def foreign(value):
    """True for operands that know how to combine with an index themselves (tensors)."""
    return hasattr(value, "memory")


class Cond:
    """A conjunction of (kind, Aff): kind 0 e >= 0, 1 e == 0, 2 e != 0.

    shape: None when the conditions do not broadcast to one; a matmul's may not, its axes K, M and N are three."""

    __slots__ = ("items", "shape")
    __array_ufunc__ = None
    NOT_NEGATIVE, ZERO, NOT_ZERO = range(3)

    def __init__(self, items, shape):
        self.items, self.shape = items, shape

    def __repr__(self):
        return "condition " + " & ".join(f"{e} {('>= 0', '== 0', '!= 0')[kind]}" for kind, e in self.items)

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
        if type(other).__name__ in ("bool", "bool_"):
            from .affine import Aff

            return self if other else Cond([(0, Aff(-1))], self.shape)
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

    def __bool__(self):
        if self.has_slots:
            fail(
                "INDEXING",
                "a mask is built with and, or, not, min, or a chained comparison",
                rule="masks are joined with & only",
                fix="(i_p < n) & (i_f < m), each comparison in parentheses",
                official="unsupported_expression_in_mask",
            )
        fail(
            "CONTROL_FLOW",
            "a condition on loop variables is used as a Python truth value (and, or, not, while, ternary, min, assert)",
            rule="conditions on loop variables are compile-time symbols; `if` alone understands them",
            fix="join conditions with & and write a plain `if` statement: `if (i > 0) & (j == 0):`",
        )
