"""Shapes: how two broadcast, and which operands an index leaves to others."""


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
