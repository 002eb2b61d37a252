"""Loop iterators: symbolic ones are traced once, static ones unroll."""

from . import context
from .affine import Aff, LoopVar, as_int


class SymbolicRange:
    """Opens a loop region at its first trip and closes it at the second request; the body is recorded once."""

    sequential = True

    def __init__(self, start, stop, step, origin=None):
        """@param origin an index that every value starts from: a range whose bounds move with an outer loop"""
        self.start, self.step, self.origin = start, step, origin
        self.trips = max(0, -(-(stop - start) // step))
        self._state, self._region, self.before, self.held = 0, None, {}, {}
        self.counters = {}  # Python numbers that the one traced trip changed, with the loop's line

    def __iter__(self):
        if self._state == 0:
            return self
        return type(self)(self.start, self.start + self.trips * self.step, self.step, self.origin)

    def __repr__(self):
        return f"{'sequential' if self.sequential else 'affine'}_range of {self.trips}"

    def __len__(self):
        return self.trips

    def __reversed__(self):
        context.fail(
            "CONTROL_FLOW",
            "reversed() of a symbolic range",
            rule="a loop body is traced once",
            fix="index with n - 1 - i",
            kind=TypeError,
        )

    def __next__(self):
        trace = context.trace_or_fail("a loop")
        if trace.error is not None:
            raise trace.error
        if self._state == 1:
            self._state = 2
            trace.close_region(self._region)
            raise StopIteration
        if self._state == 2 or self.trips == 0:
            self._state = 2
            raise StopIteration
        self._state = 1
        node, self._region = trace.open_loop(self.sequential, self.start, self.trips, self.step)
        index = LoopVar(self.start, {node.atom: self.step})
        return index if self.origin is None else self.origin + index


class AffineRange(SymbolicRange):
    """nl.affine_range"""

    sequential = False


class SequentialRange(SymbolicRange):
    """nl.sequential_range, and Python's range in a for statement"""


def static(start, stop, step, origin=None):
    """Plain integers, or indices from `origin` on: the body unrolls."""
    trips = max(0, -(-(stop - start) // step))
    if trips > 20_000:
        context.fail(
            "CAPACITY",
            f"nl.static_range unrolls {trips} times",
            rule="at most 20000 unrolled iterations",
            fix="use nl.affine_range or nl.sequential_range",
        )
    values = range(start, stop, step)
    return values if origin is None else [origin + k for k in values]


def kernel_range(*args):
    """Python's range as the iterator of a for statement: sequential_range."""
    trace = context.current()
    if trace is None:
        return range(*args)
    if any(isinstance(a, Aff) for a in args):
        return SequentialRange(*moving_bounds("range", args))
    plain = range(*args)
    return SequentialRange(plain.start, plain.stop, plain.step)


def moving_bounds(label, args):
    """(start, stop, step, origin) of a range between indices that move together, so that its trips are counted when it
    is traced. @raises CONTROL_FLOW for any other"""
    start, stop, step = ((0, *args) if len(args) == 1 else args) + (1,) * (3 - max(2, len(args)))
    both = isinstance(start, Aff) and isinstance(stop, Aff) and not start.shape and not stop.shape
    distance = stop - start if both else None
    if distance is None or not distance.is_constant or not as_int(step):
        moving = next(a for a in args if isinstance(a, Aff))
        context.fail(
            "CONTROL_FLOW",
            f"{label}: a bound depends on a loop variable ({moving})",
            rule="trip counts are compile-time integers",
            fix="loop to the largest count and guard the body with `if j < bound:` or a mask",
            kind=TypeError,
        )
    return 0, distance.c, step, start
