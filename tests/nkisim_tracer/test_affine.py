"""Index algebra against numpy index arrays."""

import itertools
import random
import unittest

import numpy as np

from neuronxcc.nki._trace import affine, context
from neuronxcc.nki._trace.builder import Options, Trace
from neuronxcc.nki._trace.conditions import holds


class AffineAgainstNumpy(unittest.TestCase):
    def setUp(self):
        self.trace = Trace(Options(), (), [])
        context.push(self.trace)
        self.node, self.region = self.trace.open_loop(False, 0, 6, 1)
        self.i = affine.LoopVar(0, {self.node.atom: 1})

    def tearDown(self):
        context.pop()

    def value(self, aff, trip):
        """The index array of an Aff at one trip, by its definition."""

        def of_atom(atom):
            if atom.kind == affine.Atom.LOOP:
                return trip
            inner = scalar(atom.operand)
            return inner // atom.divisor if atom.kind == affine.Atom.FLOOR_DIV else inner % atom.divisor

        def scalar(a):
            return a.c + sum(k * of_atom(atom) for atom, k in a.terms.items())

        out = np.full(aff.shape, scalar(aff))
        for axis, (n, d) in enumerate(zip(aff.shape, aff.slots)):
            shape = [1] * len(aff.shape)
            shape[axis] = n
            out = out + d * np.arange(n).reshape(shape)
        return out

    def random_pair(self, rng, depth=3):
        """(Aff, function of the trip that numpy computes)."""
        if depth == 0:
            kind = rng.randrange(4)
            if kind == 0:
                return affine.arange(0, 3)[:, None], lambda t: np.arange(3)[:, None]
            if kind == 1:
                return affine.arange(2, 12, 2)[None, :], lambda t: np.arange(2, 12, 2)[None, :]
            if kind == 2:
                return self.i, lambda t: t
            return self.i * 7 + 3, lambda t: t * 7 + 3
        kind = rng.randrange(5)
        a, fa = self.random_pair(rng, depth - 1)
        if kind == 0:
            b, fb = self.random_pair(rng, depth - 1)
            return a + b, lambda t: fa(t) + fb(t)
        if kind == 1:
            b, fb = self.random_pair(rng, depth - 1)
            return a - b, lambda t: fa(t) - fb(t)
        k = rng.randrange(-3, 4)
        if kind == 2:
            return k * a, lambda t: k * fa(t)
        q = rng.choice([2, 3, 5])
        if a.shape == ():
            return (a // q, lambda t: fa(t) // q) if kind == 3 else (a % q, lambda t: fa(t) % q)
        return a + k, lambda t: fa(t) + k

    def test_random_expressions_equal_numpy_and_stay_in_their_bounds(self):
        rng = random.Random(7)
        for _ in range(400):
            aff, function = self.random_pair(rng)
            lo, hi = aff.bounds()
            for trip in range(6):
                want = np.asarray(function(trip))
                got = self.value(aff, trip)
                self.assertTrue(np.array_equal(np.broadcast_to(got, want.shape), want), str(aff))
                self.assertTrue(lo <= want.min() and want.max() <= hi, str(aff))

    def test_comparisons_become_conditions_that_hold_exactly_where_numpy_says(self):
        p, f = affine.arange(0, 5)[:, None], affine.arange(0, 7)[None, :]
        np_p, np_f = np.arange(5)[:, None], np.arange(7)[None, :]
        table = {
            "<": np.less,
            "<=": np.less_equal,
            ">": np.greater,
            ">=": np.greater_equal,
            "==": np.equal,
            "!=": np.not_equal,
        }
        for (sign, ufunc), trip in itertools.product(table.items(), range(6)):
            cond = affine.compare(sign, p + self.i, 2 * f - 1)
            kind, e = cond.items[0]
            value = self.value(e, trip)
            got = value >= 0 if kind == 0 else value == 0 if kind == 1 else value != 0
            self.assertTrue(np.array_equal(got, ufunc(np_p + trip, 2 * np_f - 1)), sign)

    def test_divisions_that_come_out_even_leave_no_atom(self):
        self.assertTrue(((self.i * 512) // 128).same(self.i * 4))
        self.assertTrue(((self.i * 512 + 100) // 128).same(self.i * 4))
        self.assertEqual(((self.i * 512) % 128).c, 0)
        self.assertFalse(((self.i * 512) % 128).terms)

    def test_constant_conditions_are_python_booleans_and_join(self):
        self.assertIs(affine.compare("<", self.i - self.i, 3), True)
        cond = (self.i > 2) & True
        self.assertEqual(len(cond.items), 1)
        never = False & (self.i > 2)
        self.assertTrue(never.items[0][1].is_constant and never.items[0][1].c < 0)

    def test_fractions_and_infinities_compare_as_with_integers(self):
        """Every comparison with a float, at each trip, against Python's own on the number."""
        trips = range(6)
        for bound in (2.5, -0.5, 2.0, 7.5, float("inf"), float("-inf"), float("nan")):
            for sign in ("<", "<=", ">", ">=", "==", "!="):
                found = affine.compare(sign, self.i, bound)
                want = [eval(f"t {sign} b", {"t": t, "b": bound}) for t in trips]
                if isinstance(found, bool):
                    self.assertEqual([found] * 6, want, (sign, bound))
                else:
                    ((kind, e),) = found.items
                    self.assertEqual([bool(holds(kind, int(self.value(e, t)))) for t in trips], want, (sign, bound))


if __name__ == "__main__":
    unittest.main()
