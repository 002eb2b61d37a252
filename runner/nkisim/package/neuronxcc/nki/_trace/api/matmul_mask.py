"""Masks of matmuls: each condition trims one axis of (K, M, N), or says by loop variables alone whether anything
runs."""

from .. import checks, scope
from ..affine import Aff
from ..conditions import Cond
from ..context import fail
from ..indexing import OperandMask

K, M, N = range(3)
NAMES = ("K (contraction)", "M (free axis of stationary)", "N (free axis of moving)")
# : Axes that a condition on the partition axis, and one on the free axis, may mean: those of the operands and of the
# (M, N) result.
READINGS = ((K, M), (N, M))
#: The same for nl.matmul(x, y): x is (M, K), y is (K, N).
PLAIN_READINGS = ((M, K), (N, K))


def unmasked(operand, axes, label):
    """(tile, [(kind, index, axis of (K, M, N))]) of an operand: those of tile[condition].

    axes: the axes of (K, M, N) that the tile's two axes are. @raises INDEXING on a condition over both"""
    if not isinstance(operand, OperandMask):
        return operand, ()
    tile, out = operand.masked_tile, []
    for kind, e in operand.condition.items:
        for atom in e.terms:
            scope.check_atom(atom)
        moving = [k for k, d in enumerate(e.slots) if d]
        place = moving[0] - len(e.slots) + 2 if moving else 0
        if len(moving) > 1 or place < 0 or (moving and e.shape[moving[0]] != tile.shape[place]):
            fail(
                "INDEXING",
                f"{label}: the condition of an operand is not over one of its axes: {e}",
                operands=[("operand", tile)],
                rule="tile[condition] leaves places of one axis of the tile out, over all of the axis",
                fix="one comparison an axis: tile[(i_p < k) & (i_f < m)] with i_p = nl.arange(p)[:, None], i_f = "
                "nl.arange(f)[None, :]",
            )
        out.append((kind, e, axes[place] if moving else None))
    return tile, tuple(out)


def placed(conditions, sizes):
    """The conditions of unmasked() over the space (K, M, N)."""
    return tuple(_placed(kind, e, axis, max(e.slots, key=abs, default=0), sizes) for kind, e, axis in conditions)


def over_kmn(mask, sizes, sides, readings, label):
    """A mask's conditions over the space (K, M, N).

    sizes: (K, M, N). sides: (operand as the caller gave it, the axes of (K, M, N) that its two axes are). A condition
    means the axis that its extent fits; where two fit, the one whose operand was loaded under the same condition.
    @raises INDEXING on a condition over two axes, of a size that nothing has, or that two axes could mean"""
    if not isinstance(mask, Cond):
        return tuple(_placed(kind, e, None, 0, sizes) for kind, e in checks.check_mask(mask, (1, 1), label))
    out = []
    for kind, e in mask.items:
        for atom in e.terms:
            scope.check_atom(atom)
        moving = [k for k, d in enumerate(e.slots) if d]
        if not moving:
            out.append(_placed(kind, e, None, 0, sizes))
            continue
        if len(moving) > 1 or len(e.slots) - moving[0] > 2:
            fail(
                "INDEXING",
                f"{label}: a condition of its mask mixes axes: {e}",
                operands=_operands(sides),
                rule="each condition of a matmul's mask is on one of the axes K, M and N (and on loop variables); they "
                "are joined with &",
                fix="leave the mask out, zero what must not count in one operand (nl.zeros, then a masked load into "
                "it), and mask the store",
            )
        place = moving[0] - len(e.slots) + 2
        axis = _axis(kind, e, place, e.shape[moving[0]], sizes, sides, readings, label)
        out.append(_placed(kind, e, axis, e.slots[moving[0]], sizes))
    return tuple(out)


def of_result(items, shape):
    """The conditions that say which elements of the (M, N) result are written."""
    return tuple((kind, Aff(e.c, e.terms, e.slots[1:], tuple(shape))) for kind, e in items if not e.slots[K])


def _placed(kind, e, axis, slot, sizes):
    return kind, Aff(e.c, e.terms, tuple(slot if k == axis else 0 for k in range(3)), tuple(sizes))


def _operands(sides):
    return [(name, tile) for name, tile, _ in sides]


def _axis(kind, e, place, extent, sizes, sides, readings, label):
    fits = [axis for axis in readings[place] if sizes[axis] == extent]
    if len(fits) == 1:
        return fits[0]
    where = ("partition", "free")[place]
    if not fits:
        legal = " or ".join(f"{sizes[axis]} for {NAMES[axis]}" for axis in readings[place])
        fail(
            "INDEXING",
            f"{label}: its mask has a condition over {extent} places of the {where} axis: {e}",
            operands=_operands(sides),
            rule=f"a condition on the {where} axis is over {legal}",
            fix="build the mask from the index grids of the operands or of the result",
        )
    known = {axes[at] for _, tile, axes in sides for at in (0, 1) if _loaded_under(tile, kind, e, place, at)}
    known &= set(fits)
    if len(known) == 1:
        return known.pop()
    if place == 1:
        return fits[0]  # the last axis of the result
    fail(
        "INDEXING",
        f"{label}: a condition of its mask could mean two axes: {e} over {extent} partitions",
        operands=_operands(sides),
        rule=f"{' and '.join(NAMES[axis] for axis in fits)} both have {extent} places; the mask of an operand's load "
        "tells which is meant",
        fix="load the operand with the same condition in mask=; or leave it out here, zero the operands' tail "
        "(nl.zeros, then a masked load "
        "into it) and mask the store",
    )


def _loaded_under(tile, kind, e, place, at):
    """Was the tile written under this very condition on its axis `at`?"""
    d = e.slots[place - 2]
    for items in tile.buffer_.root.masks:
        for other_kind, other in items:
            only = len(other.slots) - 2 + at
            if (
                other_kind == kind
                and [(k, n) for k, n in enumerate(other.slots) if n] == [(only, d)]
                and other.c == e.c
                and other.terms == e.terms
            ):
                return True
    return False
