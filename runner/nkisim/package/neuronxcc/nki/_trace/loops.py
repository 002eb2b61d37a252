"""Loop iterators: symbolic ones are traced once, static ones unroll."""

from . import context
from .affine import Aff, LoopVar, as_int
from .conditions import Cond


class SymbolicRange:
    """Opens a loop region at its first trip and closes it at the second request; the body is recorded once."""

    sequential = True

    def __init__(self, start, stop, step, origin=None, distance=None):
        """@param origin an index that every value starts from: a range whose bounds move with an outer loop
        @param distance an index, from start to stop, where outer trips differ in it: the loop counts to the largest and
          each trip asks whether it is one"""
        self.start, self.step, self.origin, self.distance, self._asked = start, step, origin, distance, None
        self.trips = max(0, -(-(stop - start) // step))
        self._state, self._region, self.before, self.held = 0, None, {}, {}
        self.counters = {}  # Python numbers that the one traced trip changed, with the loop's line

    def __iter__(self):
        if self._state == 0:
            return self
        return type(self)(self.start, self.start + self.trips * self.step, self.step, self.origin, self.distance)

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

    def leave(self):
        trace = context.current()
        self._state = 2
        if self._asked is not None:
            trace.close_region(self._asked)
        trace.close_region(self._region)

    def __next__(self):
        trace = context.trace_or_fail("a loop")
        if trace.error is not None:
            raise trace.error
        if self._state == 1:
            self.leave()
            raise StopIteration
        if self._state == 2 or self.trips == 0:
            self._state = 2
            raise StopIteration
        self._state = 1
        node, self._region = trace.open_loop(self.sequential, self.start, self.trips, self.step)
        index = LoopVar(self.start, {node.atom: self.step})
        if self.distance is not None:
            asked = ((Cond.NOT_NEGATIVE, self.distance - index - 1),)
            question = trace.open_if(asked)
            self._asked = trace.open_region("branch", question.then, question, asked, asked)
            self._asked.counts_trips = True
        return index if self.origin is None else self.origin + index


class AffineRange(SymbolicRange):
    """nl.affine_range"""

    sequential = False


class SequentialRange(SymbolicRange):
    """nl.sequential_range, and Python's range in a for statement"""


def static(start, stop, step, origin=None, distance=None):
    """Plain integers, or indices from `origin` on: the body unrolls."""
    if distance is not None:
        _fail_moving("nl.static_range", distance)
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
    """(start, stop, step, origin, distance) of a range with bounds that move with outer loops, from 0 on: where they
    move together distance is None, else stop is the most of it. @raises CONTROL_FLOW"""
    start, stop, step = ((0, *args) if len(args) == 1 else args) + (1,) * (3 - max(2, len(args)))
    moving = next(a for a in args if isinstance(a, Aff))
    shaped = any(isinstance(a, Aff) and a.shape for a in (start, stop))
    if shaped or not as_int(step) or isinstance(step, Aff):
        _fail_moving(label, moving)
    distance = stop - start
    if as_int(distance) is not None or distance.is_constant:
        return 0, distance.c if isinstance(distance, Aff) else distance, step, start, None
    if as_int(step) < 0:
        _fail_moving(label, moving)
    context.beyond_documents(  # causal attention of a public repository, tried on Trainium: for j in nl.affine_range(i)
        "CONTROL_FLOW", f"{label}: a bound depends on a loop variable ({moving})", _COUNTED, fix=_GUARD, kind=TypeError
    )
    return 0, distance.bounds()[1], step, start, distance


_COUNTED = "trip counts are compile-time integers"
_GUARD = "loop to the largest count and guard the body with `if j < bound:` or a mask"


def _fail_moving(label, moving):
    context.fail(
        "CONTROL_FLOW",
        f"{label}: a bound depends on a loop variable ({moving})",
        rule=_COUNTED,
        fix=_GUARD,
        kind=TypeError,
    )
