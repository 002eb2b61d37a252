"""Index algebra: affine expressions over loop variables, program ids and axis positions.

`Aff = c + sum(coefficient * atom) + sum(slots[k] * point[k])`, where `point` runs over the index space `shape`: slot k
belongs to axis k, by position. Views, broadcasts, windows and reversals are the same thing with other numbers: a view
of a view is one substitution.

Invariants, which all that compares or encodes indices leans on:
- `terms` holds no zero coefficient, so equal indices have equal terms and `same` is exact;
- `len(slots) == len(shape)`, and the slot of an axis of size 1 is 0: its only point is 0, and a view that repeats the
  axis (numpy's broadcast) must not move along it;
- an index never changes after it is made: views of whole tiles share theirs, and bytes are kept by identity.
"""

import math
import operator

from .conditions import Cond, holds
from .context import called, fail, subscripted, trace_or_fail
from .refusals import IndexRefusals
from .shapes import broadcast_shapes, foreign
from .tables import ATOM


class Atom:
    """A symbol of the program form. lo and hi are inclusive bounds of its value; it lives in the loop `region`.

    `//` and `%` by a constant are symbols of their own, over an operand without slots, so that an index stays a sum."""

    __slots__ = ("kind", "key", "operand", "divisor", "lo", "hi", "region", "name", "number")
    LOOP, PROGRAM_ID, FLOOR_DIV, MOD = (ATOM[name] for name in ("loop", "program_id", "floor_div", "mod"))

    def __init__(self, kind, key, lo, hi, name, operand=None, divisor=1, region=None):
        self.kind, self.key, self.lo, self.hi, self.name = kind, key, lo, hi, name
        self.operand, self.divisor, self.region, self.number = operand, divisor, region, -1

    def mentions(self, atom):
        return self is atom or (self.operand is not None and self.operand.mentions(atom))


def as_int(value):
    """A plain int of an int, bool or numpy integer; None for anything else."""
    if type(value) is int:
        return value
    if isinstance(value, (float, Aff)):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


class Aff(IndexRefusals):
    """An index. Immutable."""

    __slots__ = ("c", "terms", "slots", "shape")
    __array_ufunc__ = None  # numpy leaves operators with an index to the index

    def __init__(self, c, terms=None, slots=(), shape=()):
        self.c, self.terms, self.slots, self.shape = c, terms or {}, slots, shape

    # -- facts
    @property
    def is_constant(self):
        return not self.terms and not any(self.slots)

    @property
    def has_slots(self):
        return any(self.slots)

    @property
    def ndim(self):
        return len(self.shape)

    def mentions(self, atom):
        return any(a.mentions(atom) for a in self.terms)

    def bounds(self, shape=None):
        """Inclusive [lo, hi] over all atoms and the index space.

        Exact for one symbol; an interval that holds every value for several, since symbols move independently here."""
        shape = self.shape if shape is None else shape
        lo = hi = self.c
        for atom, k in self.terms.items():
            lo += k * (atom.lo if k > 0 else atom.hi)
            hi += k * (atom.hi if k > 0 else atom.lo)
        for n, d in zip(shape, self.slots):
            if d > 0:
                hi += d * (n - 1)
            elif d < 0:
                lo += d * (n - 1)
        return lo, hi

    def spread(self, shape):
        """This index over a larger space: slots right-aligned, size-1 axes repeated."""
        pad = len(shape) - len(self.slots)
        return Aff(self.c, self.terms, (0,) * pad + self.slots, shape)

    def same(self, other):
        return self.c == other.c and self.terms == other.terms and self.slots == other.slots

    @staticmethod
    def constant(value):
        """An index without symbols and axes."""
        return Aff(value)

    def substitute(self, indices, shape):
        """Slots replaced by `indices` (one Aff a slot), all over the space `shape`: a subscript of a view is a view."""
        out = Aff(self.c, self.terms, (0,) * len(shape), shape)
        for d, index in zip(self.slots, indices):
            if d:
                out = out.plus(index.spread(shape), d)
        return out

    def plus(self, other, scale=1):
        """self + scale * other for operands over the same space."""
        terms = dict(self.terms)
        for atom, k in other.terms.items():
            value = terms.get(atom, 0) + scale * k
            if value:
                terms[atom] = value
            else:  # no zero coefficients: `same` compares terms
                terms.pop(atom, None)
        slots = tuple(a + scale * b for a, b in zip(self.slots, other.slots))
        return Aff(self.c + scale * other.c, terms, slots, self.shape)

    # -- arithmetic
    def _combine(self, other, scale):
        if not isinstance(other, Aff):
            if type(other) is GridPart:
                return NotImplemented  # it knows how
            value = as_int(other)
            if value is None:
                return _refuse_operand(self, other, "+" if scale > 0 else "-")
            return Aff(self.c + scale * value, self.terms, self.slots, self.shape)
        if self.shape == other.shape:
            return self.plus(other, scale)
        shape = broadcast_shapes(self.shape, other.shape)
        if shape is None:
            fail(
                "INDEXING",
                f"indices of shapes {list(self.shape)} and {list(other.shape)} do not broadcast",
                rule="indices of one expression broadcast as numpy arrays do",
                fix="give each arange its own axis: nl.arange(p)[:, None] and nl.arange(f)[None, :]",
            )
        return self.spread(shape).plus(other.spread(shape), scale)

    def __add__(self, other):
        return NotImplemented if foreign(other) else self._combine(other, 1)

    __radd__ = __add__

    def __sub__(self, other):
        return NotImplemented if foreign(other) else self._combine(other, -1)

    def __rsub__(self, other):
        return (-self)._combine(other, 1)

    def __neg__(self):
        return self.scaled(-1)

    def __pos__(self):
        return self

    def scaled(self, k):
        if k == 0:
            return Aff(0, {}, (0,) * len(self.slots), self.shape)
        return Aff(self.c * k, {a: v * k for a, v in self.terms.items()}, tuple(d * k for d in self.slots), self.shape)

    def __mul__(self, other):
        if foreign(other):
            return NotImplemented
        if isinstance(other, Aff):
            if other.is_constant and not other.shape:
                return self.scaled(other.c)
            if self.is_constant and not self.shape:
                return other.scaled(self.c)
            fail(
                "INDEXING",
                f"index {self} * {other} is not affine",
                rule="an index is a sum of constants times loop variables and aranges",
                fix="restructure the loops so that each index is multiplied by a compile-time constant only",
            )
        value = as_int(other)
        return _refuse_operand(self, other, "*") if value is None else self.scaled(value)

    __rmul__ = __mul__

    def _split(self, other, sign):
        """(quotient part, rest, divisor) of a division by a constant."""
        q = as_int(other)
        if q is None or q <= 0:
            fail(
                "INDEXING",
                f"index {self} {sign} {other} is not affine",
                rule=f"{sign} is legal between a loop variable and a positive compile-time integer",
                fix="divide by a constant",
            )
        # (q*a + r) // q = a + r // q and (q*a + r) % q = r % q hold for every r, negative ones too, in floor division.
        # What is left is the smallest operand, so that (8*i + j) // 4 and j // 4 share a symbol.
        whole = {a: k // q for a, k in self.terms.items() if k % q == 0}
        steps = tuple(0 if d % q else d // q for d in self.slots)
        kept = tuple(d if d % q else 0 for d in self.slots)
        rest = Aff(self.c % q, {a: k for a, k in self.terms.items() if k % q}, kept, self.shape)
        return Aff(self.c // q, whole, steps, self.shape), rest, q

    def __floordiv__(self, other):
        whole, rest, q = self._split(other, "//")
        lo, hi = rest.bounds()
        if lo // q == hi // q:  # the rest stays within one multiple of q: no symbol is needed
            return whole + lo // q
        if rest.has_slots:
            return GridPart(self, q, "//")
        return whole + _derived(Atom.FLOOR_DIV, rest, q, lo // q, hi // q)

    def __mod__(self, other):
        whole, rest, q = self._split(other, "%")
        lo, hi = rest.bounds()
        if lo // q == hi // q:
            return rest - q * (lo // q)
        if rest.has_slots:
            return GridPart(self, q, "%")
        return Aff(0, {}, rest.slots, self.shape) + _derived(Atom.MOD, rest, q, 0, q - 1)

    # -- conditions
    def __lt__(self, other):
        return compare("<", self, other)

    def __le__(self, other):
        return compare("<=", self, other)

    def __gt__(self, other):
        return compare(">", self, other)

    def __ge__(self, other):
        return compare(">=", self, other)

    def __eq__(self, other):
        return compare("==", self, other)

    def __ne__(self, other):
        return compare("!=", self, other)

    # -- what is an integer after all
    def __index__(self):
        if self.is_constant and not self.shape:
            return self.c
        _refuse_integer(self)

    def __float__(self):
        return float(self.__index__())

    __int__ = __index__

    # -- arange[:, None]
    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        axis, slots, shape = 0, [], []
        for item in key:
            if item is None:
                slots.append(0)
                shape.append(1)
            elif isinstance(item, slice) and item == slice(None) and axis < len(self.shape):
                slots.append(self.slots[axis])
                shape.append(self.shape[axis])
                axis += 1
            else:
                fail(
                    "INDEXING",
                    f"an index grid is subscripted with {item}",
                    rule="an arange takes only `:` and None",
                    fix="nl.arange(n)[:, None] or nl.arange(n)[None, :]; shift it with + and scale it with *",
                )
        slots += self.slots[axis:]
        shape += self.shape[axis:]
        return type(self)._plain(self.c, self.terms, tuple(slots), tuple(shape))

    @staticmethod
    def _plain(c, terms, slots, shape):
        return Aff(c, terms, slots, shape)

    def expand_dims(self, axis):
        axis = axis if axis >= 0 else axis + self.ndim + 1
        key = [slice(None)] * self.ndim
        key.insert(axis, None)
        return self[tuple(key)]

    def __repr__(self):
        parts = [(f"{k}*" if k not in (1,) else "") + a.name for a, k in self.terms.items()]
        parts += [(f"{d}*" if d != 1 else "") + f"arange({n})" for d, n in zip(self.slots, self.shape) if d]
        if self.c or not parts:
            parts.append(str(self.c))
        return " + ".join(parts)


class GridPart:
    """offset + grid // q, (grid // q) % m or grid % q: no sum of constants times symbols. x[..., offset + grid // q,
    grid % q, ...] of an axis of size q is grid + q * offset over the two axes joined (indexing.py), and so on for more
    axes; anything else is refused where it is used."""

    __array_ufunc__ = None

    def __init__(self, grid, divisor, sign, modulus=0, offset=0):
        self.grid, self.divisor, self.sign, self.modulus, self.offset = grid, divisor, sign, modulus, offset

    @property
    def shape(self):
        return self.grid.shape

    def __repr__(self):
        text = f"({self.grid}) {self.sign} {self.divisor}"
        text = f"({text}) % {self.modulus}" if self.modulus else text
        return text if self._unmoved else f"{self.offset} + {text}"

    def __getitem__(self, key):
        return GridPart(self.grid[key], self.divisor, self.sign, self.modulus, self.offset)

    @property
    def _unmoved(self):
        return as_int(self.offset) == 0

    def _is_plain(self, other):
        """grid // q beside a positive number?"""
        number = as_int(other)
        return self.sign == "//" and not self.modulus and self._unmoved and number is not None and number > 0

    def __mod__(self, other):
        return GridPart(self.grid, self.divisor, "//", as_int(other)) if self._is_plain(other) else self.refuse()

    def __floordiv__(self, other):
        return self.grid // (self.divisor * as_int(other)) if self._is_plain(other) else self.refuse()

    def __add__(self, other):
        moves = as_int(other) is not None or (isinstance(other, Aff) and not other.shape)
        if self.sign != "//" or self.modulus or not moves:
            self.refuse()
        return GridPart(self.grid, self.divisor, "//", 0, self.offset + other)

    __radd__ = __add__

    def __sub__(self, other):
        return self + -other if as_int(other) is not None or isinstance(other, Aff) else self.refuse()

    def joined(self, after, size):
        """The index of this axis and the next one, which has `after` for its own and this size, joined; None where it
        is none."""
        pair = type(after) is GridPart and (self.sign, after.sign) == ("//", "%") and not after.modulus
        if not pair or not self.divisor == after.divisor == size or not self.grid.same(after.grid):
            return None
        if self.modulus:  # g // q % m * q + g % q == g % (q * m)
            return self.grid % (self.divisor * self.modulus)
        return self.grid + self.offset * self.divisor

    def refuse(self, *_):
        fail(
            "INDEXING",
            f"{self.sign} is applied to an arange grid: {self}",
            rule=f"{self.sign} of a grid by {self.divisor} is an index where x[grid // {self.divisor}, grid % "
            f"{self.divisor}] splits it over two axes, the second of size {self.divisor}",
            fix="use a grid with one more axis (nl.arange(a)[:, None, None], ...) in place of splitting one",
        )


for _sign in (
    "rsub mul rmul truediv rtruediv rfloordiv rmod pow rpow neg pos lt le gt ge eq ne and rand or ror bool index int "
    "float iter len"
).split():
    setattr(GridPart, f"__{_sign}__", GridPart.refuse)
GridPart.__hash__ = object.__hash__


class LoopVar(Aff):
    """The variable of a loop over affine_range, sequential_range or range."""

    __slots__ = ()


def _refuse_integer(index):
    """Python wants the number of an index; which words help hangs on what for."""
    (name, held), call = subscripted(), called()
    if call or (name and not isinstance(held, (list, tuple))):
        what = f"{call}()" if call else f"'{name}' ({type(held).__name__})"
        fail(
            "CONTROL_FLOW",
            f"{what} needs an integer and gets index {index}, a LoopVar",
            rule="a loop body is traced once, with a symbolic index",
            kind=TypeError,
            fix="loop with nl.static_range, whose values are integers; the number itself as a tile is nisa.iota(index, "
            "dtype=nl.int32)",
        )
    fail(
        "CONTROL_FLOW",
        f"list indices must be integers or slices, not LoopVar: index {index} is used where Python needs an integer",
        rule="a loop body is traced once, with a symbolic index",
        kind=TypeError,
        fix="use nl.static_range for a list of tiles, or one tensor with a leading block index: "
        "nl.ndarray((n, nl.par_dim(128), f), ...)",
    )


def _refuse_operand(aff, other, sign):
    """Nothing but integers combines with an index; a float that is one (n / 2 for an even n) is taken for it."""
    if isinstance(other, float) and other.is_integer():
        whole = int(other)
        return aff.scaled(whole) if sign == "*" else aff + whole if sign == "+" else aff - whole
    fail(
        "INDEXING",
        f"index {aff} {sign} {other!r} ({type(other).__name__})",
        rule="indices are integers and affine",
        fix="combine indices with compile-time integers only",
    )


def _derived(kind, operand, divisor, lo, hi):
    """The symbol of `operand // divisor` or `operand % divisor`, one a trace: equal expressions must be equal terms."""
    trace = trace_or_fail("index arithmetic")
    flat = Aff(operand.c, operand.terms)
    for atom in trace.atoms:
        if atom.kind == kind and atom.divisor == divisor and atom.operand.same(flat):
            break
    else:
        sign = "//" if kind == Atom.FLOOR_DIV else "%"
        atom = trace.add_atom(Atom(kind, 0, lo, hi, f"(({flat}) {sign} {divisor})", flat, divisor))
    return Aff(0, {atom: 1})


def arange(start, stop, step=1):
    n = max(0, -(-(stop - start) // step))
    return Aff(start, {}, (step if n > 1 else 0,), (n,))


_ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def compare(sign, a, b):
    """The condition `a sign b`; a bool when nothing symbolic is left."""
    if foreign(b):
        return NotImplemented
    if isinstance(b, float):
        if not b.is_integer():
            if sign in ("==", "!="):  # never of an integer
                return sign == "!="
            if not math.isfinite(b):  # beyond every integer, or NaN
                return _ORDERS[sign](0, b)
        b = _round_bound(sign, b)
    elif not isinstance(b, Aff) and as_int(b) is None:
        if sign in ("==", "!="):
            return sign == "!="
        fail(
            "INDEXING",
            f"index {a} is compared with {b!r}",
            rule="conditions compare indices with integers",
            fix="compare with an integer",
        )
    if sign in ("<", "<="):
        e, kind = (b - a) - (sign == "<"), Cond.NOT_NEGATIVE  # a < b is b - a - 1 >= 0 for integers
    elif sign in (">", ">="):
        e, kind = (a - b) - (sign == ">"), Cond.NOT_NEGATIVE
    else:
        e, kind = a - b, Cond.ZERO if sign == "==" else Cond.NOT_ZERO
    if e.is_constant and not e.shape:
        return holds(kind, e.c)
    return Cond([(kind, e)], e.shape)


def _round_bound(sign, value):
    """The integer that an index compares with as with `value`: i <= 2.5 is i <= 2, i < 2.5 is i < 3."""
    whole = int(value // 1)
    return whole if value == whole or sign in ("<=", ">") else whole + 1
