"""Bounds of an access: proved by intervals, by a mask or a branch, or left to the run-time check."""

from . import context
from .affine import Atom
from .conditions import Cond
from .context import fail


def check_bounds(tensor, dim, aff, size, mask, shape, api):
    """@raises OOB when an index leaves [0, size - 1] and no condition can be what keeps it inside."""
    lo, hi = aff.bounds(shape)
    if lo >= 0 and hi < size:
        return
    facts, opaque = list(mask), False
    for region in context.current().enclosing():
        if region.kind == "branch":
            facts += region.facts
            opaque = opaque or not region.facts
    (low, low_open), (high, high_open) = _refined(aff, lo, hi, facts, shape)
    beyond = (high >= size and not (opaque or high_open)) or (low < 0 and not (opaque or low_open))
    if not beyond:
        return
    name = tensor.name or "tensor"
    under = " under its mask" if (low, high) != (lo, hi) else ""
    fail(
        "OOB",
        f"{api}: Out-of-bound access for tensor '{name}' on dimension {dim}: index range [{low}, {high}]{under} "
        f"exceeds dimension size of {size}",
        operands=[("tensor", f"{list(tensor.buffer_.shape)} {tensor.dtype} in {tensor.memory}"), ("index", aff)],
        rule=f"the indices of dimension {dim} must stay in [0, {size - 1}] over all trips of the loops; outside is out "
        "of bounds",
        fix=f"add mask=(index < {size}) to the load and the store, or use a tile size that divides {size}",
        official="tensor_access_out_of_bound",
    )


def _symbols(aff):
    out = dict(aff.terms)
    out.update({k: d for k, d in enumerate(aff.slots) if d})
    return out


def _inside(e, aff):
    """Does a condition bound what a quotient or remainder in the index is of?"""
    parts = [atom.operand for atom in aff.terms if atom.operand is not None]
    return any(part.mentions(symbol) for part in parts for symbol in e.terms)


def _aligned(e, aff):
    """A condition of a branch has no slots; give it the index's space."""
    return e if len(e.slots) == len(aff.slots) else e.spread(aff.shape)


def _refined(aff, lo, hi, facts, shape):
    """((lo, open), (hi, open)): the interval under facts e >= 0, e == 0 or e != 0.

    A side is open when a fact acts on it but does not settle it: only a run can tell then."""
    low_open = high_open = False
    mine = _symbols(aff)
    for kind, e in facts:
        e = _aligned(e, aff)
        if kind == Cond.NOT_ZERO:
            both = any(symbol in mine for symbol in _symbols(e))
            low_open, high_open = low_open or both, high_open or both
            continue
        if _inside(e, aff):
            low_open = high_open = True
        for g in (e, -e) if kind == Cond.ZERO else (e,):
            other = _symbols(g)
            for symbol, c in mine.items():
                k = other.get(symbol, 0)
                if not k:
                    continue
                rest = aff.plus(g, -(c // k)) if c % k == 0 else None
                settled = rest is not None and rest.is_constant and _contiguous(aff, shape)
                low, high = rest.bounds(shape) if rest is not None else (lo, hi)
                if (c < 0) != (k < 0):  # the fact limits this side from above
                    hi, high_open = min(hi, high), not settled if high <= hi else high_open
                else:
                    lo, low_open = max(lo, low), not settled if low >= lo else low_open
    return (lo, low_open), (hi, high_open)


def _contiguous(aff, shape):
    """Does the index take every value between its bounds?"""
    extents = [(abs(k), atom.hi - atom.lo) for atom, k in aff.terms.items()]
    extents += [(abs(d), n - 1) for d, n in zip(aff.slots, shape) if d]
    span = 1
    for k, n in sorted(extents):
        if k > span:
            return False
        span += k * n
    return True


def check_partitions(tensor, aff, shape, api, conditional):
    """More than 64 partitions begin at 0, more than 32 at 0 or 64, fewer at a multiple of 32; without a step."""
    moving = [(d, n) for d, n in zip(aff.slots, shape) if d and n > 1]
    if len(moving) > 1 or conditional:
        return
    step, count = moving[0] if moving else (1, 1)
    operands = [("tensor", tensor), ("partition index", aff)]
    if step != 1:
        fail(
            "INDEXING",
            f"{api}: illegal partition step {step}",
            operands=operands,
            rule="partitions are taken in order, without a stride",
            fix="move the stride or reversal to a free axis, or do it in the load from HBM",
        )
    unit = 128 if count > 64 else 64 if count > 32 else 32
    bad = aff.c % unit != 0
    for atom, k in aff.terms.items():
        if atom.kind in (Atom.FLOOR_DIV, Atom.MOD):
            return
        bad = bad or (k % unit != 0 and atom.hi > atom.lo)
    if bad:
        starts = "0" if unit == 128 else "0 or 64" if unit == 64 else "0, 32, 64 or 96"
        fail(
            "PARTITION_LIMIT",
            f"{api}: an access of {count} partitions starts at partition {aff.c if not aff.terms else aff}",
            operands=operands,
            rule=f"{count} partitions of an on-chip tile start at {starts}",
            fix="keep one row a tile and put the index on a free or block axis (t[i] of (n, nl.par_dim(p), f)), or "
            "load the row from HBM",
        )
