"""What one walk of the AST pass finds: names that a loop's body reads first, branches that leave, calls that need no
wrapping, lines."""

import ast
import re
import textwrap
import unittest

import numpy as np

import kernels
from neuronxcc.nki._trace import engine
from neuronxcc.nki._trace.ast_pass import Rewriter


def rewritten(body):
    tree = ast.parse("def kernel():\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    "))
    return ast.unparse(Rewriter().visit(tree.body[0]))


def carried(loop_body):
    """Names that the loop around this body compares from trip to trip."""
    text = rewritten("for i in r:\n" + textwrap.indent(loop_body, "    "))
    found = re.findall(
        r"(?m)^        __nki__\.loop_end\(__nki_loop\d+, locals\(\), \((.*?)\)\)", text
    )  # at the depth of that body
    return re.findall(r"'(\w+)'", found[0]) if found else []


class ReadBeforeAssigned(unittest.TestCase):
    def test_the_order_of_execution_decides(self):
        for body, names in (
            ("a = b", []),
            ("a = a + 1", ["a"]),
            ("a = 1\nb = a", []),
            ("b = a\na = 1", ["a"]),
            ("a += 1", ["a"]),
            ("a[0] = 1", []),
            ("a[...] = a * 2", []),
            ("a: int = a", ["a"]),
            ("a: a = 1", []),
            ("a, b = b, a", ["a", "b"]),
            ("i = i + 1", []),
        ):
            self.assertEqual(carried(body), names, body)

    def test_only_what_both_sides_of_a_branch_assign_is_assigned(self):
        self.assertEqual(carried("if c:\n    a = 1\nelse:\n    a = 2\nb = a"), [])
        self.assertEqual(carried("if c:\n    a = 1\nb = a"), ["a"])
        self.assertEqual(carried("if c:\n    a = 1\nelse:\n    b = a"), ["a"])

    def test_inner_loops_and_blocks_are_part_of_the_body(self):
        self.assertEqual(carried("for j in r:\n    a = f(a)"), ["a"])
        self.assertEqual(carried("a = 0\nfor j in r:\n    a = f(a)"), [])
        self.assertEqual(carried("for j in a:\n    pass\na = 1"), ["a"])
        self.assertEqual(carried("try:\n    a = g(a)\nfinally:\n    b = 1"), ["a"])
        self.assertEqual(carried("with a:\n    a = 1"), ["a"])

    def test_other_scopes_are_not(self):
        self.assertEqual(carried("def g():\n    return a\na = 1"), [])
        self.assertEqual(carried("g = lambda: a\na = 1"), [])
        self.assertEqual(carried("b = [a for a in r]\na = 1"), [])
        self.assertEqual(carried("b = [k + a for k in r]\na = 1"), ["a"])
        self.assertEqual(carried("b = [a for a in r]\nc = a\na = 1"), ["a"])


class Branches(unittest.TestCase):
    def test_one_that_leaves_its_block_stays_an_if(self):
        for body in (
            "if c:\n    return 1",
            "for j in r:\n    if c:\n        break",
            "while t:\n    if c:\n        continue",
            "if c:\n    x = yield 1",
        ):
            self.assertIn("if __nki__.static_test(c):", rewritten(body))
            self.assertNotIn("__nki__.branch", rewritten(body))

    def test_a_break_of_a_loop_inside_does_not_leave(self):
        for body in (
            "if c:\n    for j in r:\n        break",
            "if c:\n    def g():\n        return 1",
            "if c:\n    g = lambda: (yield)",
        ):
            self.assertIn("__nki__.branch(c", rewritten(body))

    def test_each_branch_knows_the_names_that_it_binds(self):
        text = rewritten("if c:\n    a = 1\n    for j in r:\n        b = 2\nelse:\n    d = 3")
        self.assertIn("__nki__.branch(c, locals(), ('a', 'j', 'b', 'd'))", text)


class Calls(unittest.TestCase):
    BOX = (
        "class Box:\n    @staticmethod\n    def double(t):\n        for k in range(3):\n            t[...] = t * 2.0\n"
        "\n\n"
        "def through(nl, t):\n    nl.double(t)\n\n\n"
    )
    BODY = (
        "out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\nt = nl.load(x[0:128, :])\n{}\n"
        "nl.store(out, value=t)\nreturn out\n"
    )

    def test_a_parameter_that_hides_a_module_is_no_module(self):
        """Then the callee is the file's own and is rewritten: its range is one loop."""
        program = kernels.program_of(self.BODY.format("through(Box, t)"), before=self.BOX)
        self.assertEqual([n["trips"] for n in kernels.nodes_of(program, "loop")], [3])

    def test_a_call_over_several_lines_reports_its_first(self):
        result = kernels.compile_body(self.BODY.format("t = nl.exp(\n    x[0:128,\n      :],\n    mask=None)"))
        self.assertEqual((result["code"], result["line"]), ("WRONG_MEMORY", kernels.HEAD_LINES + 2 + 3))


class RangeInHelpers(unittest.TestCase):
    """Python's range stays Python's in a helper that was given nothing of the device."""

    BODY = "out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\n{}\nreturn out\n"

    def loops(self, helper, use):
        program = kernels.program_of(self.BODY.format(use), before=helper + "\n\n")
        return [n["trips"] for n in kernels.nodes_of(program, "loop")]

    def test_a_numpy_constant_is_built_with_every_trip(self):
        helper = (
            "def band(n):\n    m = np.zeros((n, n), dtype=np.float32)\n"
            "    for i in range(n - 1):\n        m[i, i + 1] = 1.0\n    return m\n"
        )
        result = kernels.compile_body(
            "out = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.shared_hbm)\n"
            "nl.store(out, value=nl.load(nl.shared_constant(band(128))))\nreturn out\n",
            [],
            helper + "\n\n",
        )
        self.assertTrue(result["ok"], result.get("message"))
        (out,), _ = engine.run_raw(result["program"], [], result["outputs"])
        np.testing.assert_array_equal(out, np.eye(128, k=1, dtype=np.float32))

    def test_a_list_of_tiles_holds_one_a_trip(self):
        helper = (
            "def tiles(n):\n    out = []\n    for k in range(n):\n"
            "        out.append(nl.full((128, 512), float(k), dtype=nl.float32))\n    return out\n"
        )
        self.assertEqual(self.loops(helper, "nl.store(out, value=tiles(3)[2])"), [])

    def test_with_tensors_or_indices_it_is_a_loop(self):
        use = "t = nl.load(x[0:128, :])\n{}\nnl.store(out, value=t)"
        loop = "    for k in range(3):\n        {0}[...] = {0} * 2.0\n"
        self.assertEqual(self.loops("def twice(t):\n" + loop.format("t"), use.format("twice(t)")), [3])
        self.assertEqual(self.loops("def twice(ts):\n" + loop.format("ts[0]"), use.format("twice([t])")), [3])
        held = "class Box:\n    def __init__(self, t):\n        self.t = t\n\n    def twice(self):\n"
        body = "        for k in range(3):\n            self.t[...] = self.t * 2.0\n"
        self.assertEqual(self.loops(held + body, use.format("Box(t).twice()")), [3])
        inner = "def inner():\n" + loop.format("t") + "inner()"
        self.assertEqual(self.loops("", use.format(inner)), [3])
        index = "def at(i, n):\n    for k in range(n):\n        pass\n    return i\n"
        self.assertEqual(self.loops(index, use.format("for i in nl.affine_range(2):\n    at(i, 3)")), [2, 3])

    def test_a_sub_kernel_is_a_kernel(self):
        helper = (
            "@nki.jit(mode='trace')\ndef part(n):\n    t = nl.zeros((128, 512), dtype=nl.float32)\n"
            "    for k in range(n):\n        t += 1.0\n    return t\n"
        )
        self.assertEqual(self.loops(helper, "nl.store(out, value=part(3))"), [3])


class Recursion(unittest.TestCase):
    """Host recursion over Python values is plain Python: it unrolls while the kernel is traced."""

    BODY = (
        "out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\nt = nl.load(x[0:128, :])\n{}\n"
        "nl.store(out[...], value=t)\nreturn out\n"
    )

    def doubled(self, call, before=""):
        """How often `call` doubled the tile, by the numbers that come out."""
        result = kernels.compile_body(self.BODY.format(call), before=before)
        self.assertTrue(result["ok"], result.get("message"))
        x = np.random.default_rng(3).standard_normal((256, 512)).astype(np.float32)
        (out,), _ = engine.run_raw(result["program"], [x], result["outputs"])
        times = int(np.log2(out[0, 0] / x[0, 0]))
        np.testing.assert_array_equal(out, x[:128] * np.float32(2**times))
        return times

    def test_helpers_call_themselves_and_each_other(self):
        self.assertEqual(
            self.doubled(
                "for i in nl.static_range(log2(32)):\n    t = t + t",
                "def log2(n):\n    return 0 if n <= 1 else 1 + log2(n // 2)\n\n\n",
            ),
            5,
        )
        self.assertEqual(
            self.doubled(
                "t = tree([t, t, t, t])",
                "def tree(ts):\n    if len(ts) == 1:\n        return ts[0]\n    half = len(ts) // 2\n"
                "    return nl.add(tree(ts[:half]), tree(ts[half:]))\n\n\n",
            ),
            2,
        )
        self.assertEqual(
            self.doubled(
                "t = even(t, 4)",
                "def even(t, n):\n    return t if n == 0 else odd(t + t, n - 1)\n\n\n"
                "def odd(t, n):\n    return even(t + t, n - 1)\n\n\n",
            ),
            4,
        )

    def test_functions_of_a_function_do(self):
        self.assertEqual(
            self.doubled("def inner(a, n):\n    return a if n == 0 else inner(a + a, n - 1)\nt = inner(t, 3)"), 3
        )
        self.assertEqual(
            self.doubled(
                "def a(t, n):\n    return t if n == 0 else b(t + t, n - 1)\ndef b(t, n):\n"
                "    return t if n == 0 else a(t + t, n - 1)\n"
                "t = a(t, 3)"
            ),
            3,
        )
        self.assertEqual(
            self.doubled(
                "t = make(2.0)(t, 3)",
                "def make(k):\n    def go(t, n):\n        return t if n == 0 else go(nl.multiply(t, k), n - 1)\n"
                "    return go\n\n\n",
            ),
            3,
        )

    def test_methods_private_ones_and_sub_kernels_do(self):
        self.assertEqual(
            self.doubled(
                "t = Box().go(t, 2)",
                "class Box:\n    def go(self, t, n):\n        return self.__down(t, n)\n\n"
                "    def __down(self, t, n):\n        return t if n == 0 else self.__down(t + t, n - 1)\n\n\n",
            ),
            2,
        )
        self.assertEqual(
            self.doubled(
                "t = sub(t, 2)",
                "@nki.jit(mode='trace')\ndef sub(t, n):\n    return t if n == 0 else sub(t + t, n - 1)\n\n\n",
            ),
            2,
        )

    def test_a_name_that_the_function_rebinds_is_still_the_file_s(self):
        self.assertEqual(
            self.doubled(
                "t = go(t)\nt = go(t)",
                "def go(t):\n    global go\n    go = twice\n    return t + t\n\n\n"
                "def twice(t):\n    return go_on(t + t)\n\n\ndef go_on(go_on):\n    return go_on\n\n\n",
            ),
            2,
        )

    def test_without_an_end_it_is_told_so(self):
        for call, before, named in (
            ("t = f(t)", "def f(t):\n    return f(t)\n\n\n", "of 'f'"),
            ("t = f(t)", "f = lambda t: f(t)\n\n\n", "of '<lambda>'"),
            ("t = f(t)", "def f(t):\n    return g(nl.exp(t))\n\n\ndef g(t):\n    return f(t)\n\n\n", "of 'f' and 'g'"),
            ("def f(t):\n    return f(t)\nt = f(t)", "", "of 'f'"),
        ):
            with self.subTest(before or call):
                result = kernels.compile_body(self.BODY.format(call), before=before)
                self.assertEqual(
                    (result["ok"], result["code"], result["stage"]), (False, "CONTROL_FLOW", "trace"), result["message"]
                )
                self.assertIn(named, result["message"])
                self.assertIn("end the recursion by a Python value", result["message"])
                self.assertGreater(result["line"], 0)

    def test_an_expression_that_is_too_deep_is_told_so(self):
        result = kernels.compile_body(self.BODY.format("t = " + " + ".join(["t"] * 2000)))
        self.assertEqual((result["code"], result["stage"]), ("PY_SYNTAX", "parse"), result["message"])
        self.assertIn("split the longest expression", result["message"])


if __name__ == "__main__":
    unittest.main()
