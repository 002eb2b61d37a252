"""What rewritten kernels call (as __nki__.name)."""

import sys
import types

from . import checks, containers, context, host, rewrite, scope
from .affine import Aff
from .conditions import Cond, opposite
from .context import fail
from .emit import emit_map, new_tile
from .loops import SymbolicRange, kernel_range
from .syntax import RUNTIME
from .tensor import Tensor


class Poison:
    """A name whose value is one of a symbolic branch, or of one trip of a symbolic loop: any use of it is an error.

    trips: the loop's; 0 for a branch"""

    def __init__(self, name, line, trips=0):
        object.__setattr__(self, "_nki_where", (name, line, trips))

    def _use(self, *_, **__):
        name, line, trips = object.__getattribute__(self, "_nki_where")
        if trips:
            fail(
                "CONTROL_FLOW",
                f"'{name}' is used after the loop at line {line} that changes it: it counted 1 trip, not {trips}",
                rule="the body of a symbolic loop is traced once, and so are its changes of Python numbers",
                fix=f"compute '{name}' from the loop's bounds, or use nl.static_range",
            )
        fail(
            "SCOPE_LOOP_DEP",
            f"Local variable '{name}' is referenced outside of its parent scope (the branch at line {line})",
            rule="names bound in an `if` on loop variables or program ids live in that branch only",
            fix=f"allocate '{name}' before the `if` and assign with {name}[...] = value inside",
            official="local_variable_used_out_of_scope",
        )

    def __getattribute__(self, name):
        if name in ("_use", "__class__") or name.startswith("_nki"):
            return object.__getattribute__(self, name)
        return object.__getattribute__(self, "_use")()


for _dunder in (
    "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow neg pos lt le gt ge eq ne and "
    "rand or ror iadd isub "
    "imul itruediv getitem setitem call bool index int float iter len"
).split():
    setattr(Poison, f"__{_dunder}__", Poison._use)
Poison.__hash__ = object.__hash__


class Branch:
    """The iterator behind a rewritten `if`: one side for a static test, both for a symbolic one."""

    def __init__(self, test, scope, names):
        self.symbolic = isinstance(test, Cond)
        self._test, self._side, self._region, self._restored = test, 0, None, {}
        if self.symbolic:
            self._before = {n: scope[n] for n in names if n in scope}
            self._line = context.kernel_line()
            _check_condition(test)
            self._trace = context.trace_or_fail("if")
            self._node = self._trace.open_if(test.items)

    def __iter__(self):
        return self

    def __next__(self):
        self._side += 1
        if not self.symbolic:
            if self._side == 2:
                raise StopIteration
            return bool(self._test)
        if self._region is not None:
            self._trace.close_region(self._region)
            self._region = None
        if self._side == 1:
            self._region = self._trace.open_region(
                "branch", self._node.then, self._node, self._test.items, self._test.items
            )
            return True
        if self._side == 2:
            facts = ()  # nothing is known where one of several conditions failed
            if len(self._test.items) == 1:
                facts = (opposite(*self._test.items[0]),)
            self._region = self._trace.open_region("branch", self._node.orelse, self._node, self._test.items, facts)
            return False
        raise StopIteration

    def before(self, name):
        """The value of a name when the statement began."""
        self._restored[name] = self._before[name] if name in self._before else Poison(name, self._line)
        return self._restored[name]

    def after(self, name, scope):
        """The value of a name after both sides: itself when no side rebound it; where both did, the second side's if
        that is a tensor from outside, with advice (vLLM's paged attention for Neuron takes its running maximum so)."""
        value = scope.get(name)
        if name in self._before and value is self._before[name]:
            return value
        both = name in self._restored and value is not self._restored[name]
        if not both or type(value) is not Tensor or not value.buffer_.root.region.open or self._trace.options.strict:
            return Poison(name, self._line)
        context.warn(
            f"'{name}' is bound on both sides of the `if` at line {self._line}; both are traced, and after them "
            f"'{name}' is what the second side bound, in all trips; t[...] = value into one tile keeps each side's"
        )
        return value


def branch(test, scope, names):
    return Branch(_static(test, "if"), scope, names)


def _check_condition(test):
    if test.has_slots:
        fail(
            "CONTROL_FLOW",
            "an `if` depends on nl.arange or nl.mgrid",
            rule="conditions use loop variables, program ids and constants",
            fix="use mask= for conditions on positions inside a tile",
            official="control_flow_condition_depending_on_arange",
        )
    for _, e in test.items:
        for atom in e.terms:
            scope.check_atom(atom)


def _static(test, what):
    if isinstance(test, Tensor):
        fail(
            "CONTROL_FLOW",
            f"`{what}` on a tensor value",
            operands=[("condition", test)],
            rule="a kernel is traced without data: values cannot steer control flow",
            fix="select values with nl.where(condition, x, y)",
            official="dynamic_control_flow_not_supported",
        )
    if isinstance(test, Aff):
        fail(
            "CONTROL_FLOW",
            f"`{what}` on the truth of index {test}",
            rule="conditions are comparisons",
            fix=f"write {what} i != 0",
        )
    return test


def static_test(test, what="if"):
    """A test that must be decided while tracing."""
    if isinstance(test, Cond) and test.decided() is not None:
        return test.decided()
    if isinstance(test, Cond):
        if what == "if":
            problem, fix = "an `if` on a loop variable leaves its block (break, continue or return)", (
                "guard the rest of the body with `if`, or use nl.static_range"
            )
        elif what == "while":
            problem, fix = "`while` on a loop variable", "use nl.sequential_range with a fixed trip count"
        else:
            problem, fix = (
                "a conditional expression on a loop variable",
                "use an `if` statement that assigns with t[...] = value",
            )
        late = what == "while" and context.current() is not None and context.current().options.sdk >= (2, 26)
        fail(
            "CONTROL_FLOW",
            problem,
            rule="a loop body is traced once, with a symbolic index",
            fix=fix,
            official="while_loop_requires_unconditional_entry" if late else "",
        )
    return _static(test, what)


def symbolic(test):
    """Is a conditional expression's test decided when the program runs only?"""
    if isinstance(test, Cond):
        return test.decided() is None
    _static(test, "a conditional expression")
    return False


def choose(test, chosen, other):
    """A tile that holds one of two values; at least one of them is a tile."""
    tiles = [v for v in (chosen, other) if isinstance(v, Tensor)]
    if not tiles or not all(isinstance(v, (Tensor, Aff, int, float)) for v in (chosen, other)):
        return static_test(test, "ternary")
    _check_condition(test)
    label = "a conditional expression"
    for tile in tiles:
        checks.check_tile(tile, label, "value")
    if len({t.shape for t in tiles}) > 1 or len({t.dtype for t in tiles}) > 1:
        fail(
            "SHAPE_BROADCAST",
            f"{label} on a loop variable gives tiles of two kinds",
            operands=[("value", t) for t in tiles],
            rule="both sides have one shape and dtype",
            fix="use an `if` statement that assigns with t[...] = value",
        )
    context.warn("a conditional expression on a loop variable evaluates both sides and copies one of them")
    out, trace = new_tile(tiles[0].shape, tiles[0].dtype, api=label), context.current()
    node = trace.open_if(test.items)
    for block, value in ((node.then, chosen), (node.orelse, other)):
        region = trace.open_region("branch", block, node, test.items)
        emit_map(out, [value], [], "tensor_copy", api=label)
        trace.close_region(region)
    return out


def range_of(candidate):
    """Python's range as the iterator of a for statement becomes sequential; a user's own `range` stays, and so does
    Python's in a helper that was given nothing of the device: what it builds (a list of tiles, a numpy array) needs
    every trip.
    """
    if candidate is not range:
        return callee(candidate)
    return range if _is_host_helper(sys._getframe(1)) else kernel_range


def _is_host_helper(frame):
    """Is this frame a function below a kernel, without tensors and indices among its names?"""
    below = frame.f_back.f_code.co_name not in ("trace_call", "call_inline")
    return below and not any(_is_symbolic(value) for name, value in frame.f_locals.items() if name != RUNTIME)


def _is_symbolic(value, depth=2):
    """A tensor, an index or a condition, or something that holds one."""
    if isinstance(value, (Tensor, Aff, Cond, SymbolicRange)):
        return True
    if isinstance(value, (list, tuple, set)):
        held = value
    elif isinstance(value, dict):
        held = value.values()
    else:  # an object's fields; by this way no code of its own runs
        try:
            held = object.__getattribute__(value, "__dict__").values()
        except AttributeError:
            return False
    return depth > 0 and any(_is_symbolic(v, depth - 1) for v in list(held))


def iterate(iterator):
    if type(iterator) in (enumerate, zip, reversed, map, filter):
        kept = iterator.__reduce__()[1] if type(iterator) is not map else ()
        if any(isinstance(x, SymbolicRange) for x in kept):
            fail(
                "CONTROL_FLOW",
                f"{type(iterator).__name__}() over a symbolic range",
                rule="a loop body is traced once, with a symbolic index",
                fix="use the loop variable itself as the counter",
            )
    return iterator


def loop_begin(loop, scope, names, held):
    """@param names that the body rebinds @param held: names whose objects it may change"""
    if isinstance(loop, SymbolicRange):
        loop.before = {n: scope[n] for n in names if n in scope}
        loop.held = {n: containers.entries(scope[n]) for n in held if n in scope}
        context.current().region.counters = tuple(n for n, value in loop.before.items() if type(value) is int)


def loop_end(loop, scope, names, held):
    """Names that the body reads before it assigns them must not carry a new value into the next trip."""
    if not isinstance(loop, SymbolicRange):
        return
    for name in loop.held if loop.trips > 1 else ():
        _end_of_held(loop, name, scope[name], loop.held[name])
    trace, before = context.current(), loop.before
    for name in names:
        if name not in before or name not in scope or scope[name] is before[name]:
            continue
        old = before[name]
        if isinstance(old, Tensor):
            fail(
                "SCOPE_LOOP_DEP",
                f"'{name}' is rebound inside the loop at line {trace.region.node.line} and read there before: it "
                "shadows the outer tile",
                operands=[(name, old)],
                rule="a loop body is traced once; only in-place writes carry a value to the next trip",
                fix=f"write {name}[...] = ... (in nl.sequential_range), or {name} += ... to accumulate",
                official="local_variable_used_out_of_scope",
                line=trace.region.node.line,
            )
        if not isinstance(old, (int, float, Aff)) or loop.trips == 1 or _same_number(old, scope[name]):
            continue
        _warn_counter(name, trace.region.node.line)
        if not isinstance(old, bool):  # a flag that the first trip sets is what all of them leave
            loop.counters[name] = trace.region.node.line


def leave(loop):
    """`return` as the last statement of a loop's body. A body is traced once, so what it returns is returned after all
    trips, as the documents' own prof-kernel.py has it (general/nki/examples, SDK 2.24)."""
    if isinstance(loop, SymbolicRange):
        line = context.current().region.node.line
        loop.leave()
        context.warn(
            f"`return` ends the body of the loop at line {line}: all {loop.trips} trips run, then the function "
            "returns; write it after the loop, or use nl.static_range to return in the first trip"
        )


def _warn_counter(name, line):
    context.warn(
        f"'{name}' changes once, not in every trip: the body of the loop at line {line} is traced once; "
        "compute it from the loop variable or use nl.static_range"
    )


def _end_of_held(loop, name, value, before):
    """Numbers of an object of the host that the one traced trip changed, and a list that it made longer, are as wrong
    after the loop as a counter. Lists of tiles are told apart where a tile of them is used."""
    line = context.current().region.node.line
    after = containers.entries(value)
    if isinstance(value, (list, set)) and len(before) != len(after):
        if not any(_is_tile(item) for item in value):
            _warn_counter(name, line)
            loop.counters[name] = line
        return
    for key, number in after.items():
        old = containers.entry(value, before, key)
        if type(number) in (int, float) and type(old) in (int, float) and number != old:
            place = f"{name}[{key!r}]" if isinstance(value, (list, dict)) else f"{name}.{key}"
            _warn_counter(place, line)
            containers.put(value, key, Poison(place, line, loop.trips))


def _is_tile(item):
    return isinstance(item, Tensor) or (isinstance(item, (tuple, list)) and any(_is_tile(part) for part in item))


def _same_number(old, new):
    if isinstance(old, Aff) or isinstance(new, Aff):
        return isinstance(old, Aff) and isinstance(new, Aff) and old.shape == new.shape and old.same(new)
    return isinstance(new, (int, float)) and old == new


def counted(loop):
    """Did a symbolic loop change Python numbers that it read?"""
    return isinstance(loop, SymbolicRange) and bool(loop.counters)


def counter(loop, name, scope):
    """The value of a name after such a loop."""
    return Poison(name, loop.counters[name], loop.trips) if name in loop.counters else scope.get(name)


def annotated(value, annotation, name):
    """`t: nt.tensor[128, 512] = value`: the shape must match."""
    try:
        wanted = annotation()
    except Exception:  # annotations of other kinds are Python's business
        return value
    shape = getattr(wanted, "nki_shape", None)
    if shape is None or not isinstance(value, Tensor):
        return value
    if len(shape) != len(value.shape) or any(a != b for a, b in zip(shape, value.shape)):
        fail(
            "RANK_LAYOUT",
            f"annotation of '{name}' says {list(shape)}, the value has {list(value.shape)}",
            operands=[(name, value)],
            rule="a tensor annotation is checked",
            fix="correct the annotation or the indices",
            official="annotation_shape_mismatch",
        )
    return value


def traced(function):
    """The traced form of a plain function; it calls back into this module."""
    return rewrite.rewritten(function, sys.modules[__name__])


def callee(function):
    """What a call calls: plain functions of the kernel's files in their rewritten form, numpy's that make arrays with
    the types that numpy lacks."""
    if host.is_maker(function):
        return host.typed(function)
    if isinstance(function, types.FunctionType):
        trace = context.current()
        if trace is not None and function.__code__.co_filename in trace.files and function.__name__ != "<lambda>":
            return traced(function)
    elif isinstance(function, types.MethodType) and isinstance(function.__func__, types.FunctionType):
        trace = context.current()
        if trace is not None and function.__func__.__code__.co_filename in trace.files:
            return types.MethodType(traced(function.__func__), function.__self__)
    return function
