"""Loops, branches and what is alive after them: code, line and wording of the diagnostic."""

import unittest

import kernels
from kernels import X
from refusal_cases import END, OUT, TILE, check_cases

CASES = {
    "a dict of tiles of a loop": (
        TILE
        + "d = {}\nfor i in nl.affine_range(2):\n    d['a'] = nl.load(x[0:128, :])\nt = nl.exp(d['a'][0:64, :])\n"
        + END,
        X,
        "CONTROL_FLOW",
        6,
        ["'d' holds the tiles of one trip, not of 2", "traced once", "nl.static_range"],
    ),
    "a list that a helper gets": (
        TILE + "ts = []\nfor i in nl.sequential_range(2):\n    ts.append(nl.exp(t))\ndef last(ts):\n"
        "    return nl.exp(ts[-1])\nt = last(ts)\n" + END,
        X,
        "CONTROL_FLOW",
        7,
        ["'ts' holds the tiles of one trip", "nl.static_range"],
    ),
    "a store that no counter explains": (
        OUT + "for i in nl.affine_range(2):\n    nl.store(out[...], value=nl.load(x[i * 128:(i + 1) * 128, :]))\n"
        "return out\n",
        X,
        "SCOPE_LOOP_DEP",
        3,
        ["Unexpected output dependencies"],
    ),
    "a break that ends a body": (
        OUT
        + "for i in nl.sequential_range(2):\n    nl.store(out[...], value=nl.load(x[0:128, :]))\n    break\n"
        + "return out\n",
        X,
        "CONTROL_FLOW",
        0,
        ["was left by break", "nl.static_range"],
    ),
    "a count in range arguments": (
        OUT + "for i in nl.affine_range(2):\n    for j in nl.static_range(i):\n        pass\n",
        X,
        "CONTROL_FLOW",
        3,
        ["depends on a loop variable"],
    ),
    "a list indexed by a loop variable": (
        TILE + "ts = [t, t]\nfor i in nl.affine_range(2):\n    u = nl.exp(ts[i])\n",
        X,
        "CONTROL_FLOW",
        5,
        ["list indices must be integers or slices, not LoopVar", "static_range"],
    ),
    "an if on a tile": (
        TILE + "if t > 0:\n    t = nl.exp(t)\n",
        X,
        "CONTROL_FLOW",
        3,
        ["tensor value", "nl.where", "err-dynamic-control-flow-not-supported"],
    ),
    "an if on an arange": (
        TILE + "p = nl.arange(128)[:, None]\nif p > 3:\n    t = nl.exp(t)\n",
        X,
        "CONTROL_FLOW",
        4,
        ["nl.arange"],
    ),
    "a break in a symbolic loop": (
        TILE + "for i in nl.affine_range(4):\n    if i > 2:\n        break\n",
        X,
        "CONTROL_FLOW",
        4,
        ["break"],
    ),
    "a condition with and": (
        TILE + "for i in nl.affine_range(4):\n    for j in nl.affine_range(4):\n        if i > 0 and j > 0:\n"
        "            u = nl.exp(t)\n",
        X,
        "CONTROL_FLOW",
        5,
        ["&"],
    ),
    "a ternary on a loop variable": (
        TILE + "for i in nl.affine_range(4):\n    k = 1 if i > 0 else 2\n",
        X,
        "CONTROL_FLOW",
        4,
        ["conditional expression"],
    ),
    "a tile used after its loop": (
        OUT + "for i in nl.affine_range(2):\n    t = nl.load(x[i * 128:(i + 1) * 128, :])\n" + END,
        X,
        "SCOPE_LOOP_DEP",
        4,
        ["outside of its parent scope", "allocate it before the loop", "err-local-variable-used-out-of-scope"],
    ),
    "a running maximum by name": (
        TILE + "m = nl.max(t, axis=1)\nfor i in nl.sequential_range(2):\n    u = nl.load(x[i * 128:(i + 1) * 128, :])\n"
        "    m = nl.maximum(m, nl.max(u, axis=1))\n",
        X,
        "SCOPE_LOOP_DEP",
        4,
        ["'m' is rebound", "m[...] ="],
    ),
    "a name bound in a branch": (
        TILE + "for i in nl.affine_range(2):\n    u = t\n    if i > 0:\n        v = t\n    w = nl.exp(v)\n",
        X,
        "SCOPE_LOOP_DEP",
        7,
        ["'v'", "parent scope"],
    ),
    "a carried write in affine_range": (
        TILE
        + "acc = nl.zeros((128, 512), dtype=nl.float32)\nfor i in nl.affine_range(2):\n    acc[...] = acc + t\n"
        + END,
        X,
        "SCOPE_LOOP_DEP",
        5,
        ["missing indices", "+=", "err-unexpected-output-dependencies"],
    ),
    "an enumerated range": (
        TILE + "for n, i in enumerate(nl.affine_range(2)):\n    u = nl.exp(t)\n",
        X,
        "CONTROL_FLOW",
        3,
        ["enumerate"],
    ),
}


class ControlFlow(unittest.TestCase):
    def test_each_fault_gets_its_code_line_and_wording(self):
        check_cases(self, CASES)

    def test_a_count_of_one_trip_is_no_count_however_it_is_kept(self):
        loop = "for i in nl.affine_range(4):\n    u = nl.exp(t)\n    "
        nested = "def step():\n    nonlocal n\n    n += 1\n"
        shared = "n = [0]\ndef step():\n    n[0] += 1\n"
        for name, before, change, use in (
            ("n", "n = 0\n", "(n := n + 1)", "n"),
            ("n", "n = 0\n" + nested, "step()", "n"),
            ("n", "n = []\n", "n.append(1.0)", "len(n)"),
            ("n", "n = set()\n", "n.add('a')", "len(n)"),
            ("n['k']", "n = {'k': 0}\n", "n['k'] += 1", "n['k']"),
            ("n['k']", "n = {'k': 0}\n", "n['k'] = n['k'] + 1", "n['k']"),
            ("n[0]", shared, "step()", "n[0]"),
            ("n.k", "class Count:\n    k = 0\nn = Count()\n", "n.k += 1", "n.k"),
        ):
            with self.subTest(change, before=before):
                body = TILE + before + loop + change + "\n"
                told = kernels.compile_body(body + f"t[...] = nl.multiply(t, {use})\n" + END)
                self.assertEqual((told["ok"], told.get("code")), (False, "CONTROL_FLOW"), told)
                self.assertIn(f"'{name}' is used after the loop", told["message"])
                self.assertIn("it counted 1 trip, not 4", told["message"])
                unused = kernels.compile_body(body + END)
                self.assertTrue(unused["ok"], unused.get("message"))
                self.assertIn(f"'{name}' changes once", unused["warnings"][0])
                unrolled = body.replace("affine", "static") + f"t[...] = nl.multiply(t, {use})\n" + END
                self.assertTrue(kernels.compile_body(unrolled)["ok"])

    def test_what_every_trip_would_leave_is_no_count(self):
        loop = "for i in nl.affine_range(4):\n    u = nl.exp(t)\n    "
        for before, change, use in (
            ("n = {'k': 0}\n", "n['k'] = 3", "n['k']"),
            ("n = {'k': 2, 'j': 0}\n", "n['j'] += 1", "n['k']"),
            ("n = []\n", "m = []\n    m.append(1.0)", "len(n) + 1"),
            ("", "COUNTS.append(1.0)", "2.0"),
        ):
            with self.subTest(change):
                body = TILE + before + loop + change + f"\nt[...] = nl.multiply(t, {use})\n" + END
                result = kernels.compile_body(body, before="COUNTS = []\n")
                self.assertTrue(result["ok"], result.get("message"))

    def test_a_counter_in_a_symbolic_loop_is_a_warning_labelled_so(self):
        body = TILE + "n = 0\nfor i in nl.affine_range(2):\n    n = n + 1\n" + END
        result = kernels.compile_body(body)
        self.assertTrue(result["ok"])
        self.assertEqual(len(result["warnings"]), 1)
        self.assertTrue(result["warnings"][0].startswith("warning (not blocking): 'n' changes once"))


if __name__ == "__main__":
    unittest.main()
