"""What Python, math and numpy ask of tiles and loop variables: the message names what to write in its place. And what a
trace leaves behind in the kernel's module: nothing."""

import unittest

import numpy as np

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl

from against_numpy import AgainstNumpy, draw
from kernels import compile_body, compile_file

OUT = "out = nl.ndarray((256, 512), dtype=nl.float32, buffer=nl.shared_hbm)\nt = nl.load(x[0:128, :])\n"
LOOP = "n = 0\nfor i in nl.affine_range(2):\n    nl.store(out[i * 128:(i + 1) * 128, :], value=t)\n    n += 1\n"


class Functions(unittest.TestCase):
    def test_on_a_tile_the_nl_function_is_named(self):
        for call, problem, fix in (
            ("math.sqrt(t)", "math.sqrt() is called on a tile", "nl.sqrt(x,"),
            ("math.fabs(t)", "math.fabs() is called on a tile", "nl.abs(x,"),
            ("math.pow(t, 2)", "math.pow() is called on a tile", "nl.power(x, y,"),
            ("sum(t)", "sum() is called on a tile", "nl.sum(x, axis,"),
            ("max(t)", "max() is called on a tile", "nl.max(x, axis=1) along an axis"),
            ("min(t, 0.0)", "min() is called on a tile", "nl.minimum(x, y) of two values"),
            ("round(t)", "round() is called on a tile", "nl.copy(x, dtype=nl.int32)"),
            ("np.sum(t)", "numpy.sum is called on a tile", "nl.sum(x, axis,"),
            ("np.dot(t, t)", "numpy.dot is called on a tile", "nl.matmul(x, y,"),
            ("np.where(t > 0, t, 0)", "numpy.where is called on a tile", "nl.where(condition, x, y,"),
            ("np.concatenate([t, t])", "numpy.concatenate is called on a tile", "t = nl.ndarray"),
        ):
            with self.subTest(call):
                message = compile_body(OUT + f"u = {call}\n", before="import math\n")["message"]
                self.assertIn(problem, message)
                self.assertIn(fix, message.split("  fix: ")[1])

    def test_lists_are_spoken_of_where_there_is_one(self):
        loop = OUT + "a, m = [0, 0], np.zeros((2, 2))\nfor i in nl.affine_range(2):\n    "
        message = compile_body(loop + "u = a[i]\n")["message"]
        self.assertIn("list indices must be integers or slices, not LoopVar", message)
        for body, what in (
            ("m[i, 0] = 1.0", "'m' (ndarray)"),
            ("u = math.sqrt(i)", "math.sqrt()"),
            ("u = [0] * 2", ""),
        ):
            result = compile_body(loop + body + "\n", before="import math\n")
            self.assertNotIn("list", result["message"])
            self.assertIn(what, result["message"])

    def test_an_array_is_no_value_of_a_tile(self):
        result = compile_body(OUT + "t[...] = np.zeros((128, 512))\n")
        self.assertEqual(result["code"], "BAD_SIGNATURE")
        self.assertIn("nl.shared_constant", result["message"])


class Counters(unittest.TestCase):
    def test_a_number_that_a_traced_loop_changes_is_refused_after_it(self):
        for use in (
            "u = t * n",
            "u = out[n:n + 1, :]",
            "for k in nl.affine_range(n):\n    pass",
            "if n == 2:\n    pass",
        ):
            result = compile_body(OUT + LOOP + use + "\nreturn out\n")
            self.assertEqual(result.get("code"), "CONTROL_FLOW", use)
            self.assertIn("'n' is used after the loop at line", result["message"])
            self.assertIn("counted 1 trip, not 2", result["message"])

    def test_what_counts_right_is_free(self):
        for body in (
            OUT + LOOP + "return out\n",
            OUT + LOOP + "n = 1\nu = t * n\nreturn out\n",
            OUT + LOOP.replace("affine_range(2)", "static_range(2)") + "u = t * n\nreturn out\n",
            OUT + LOOP.replace("affine_range(2)", "affine_range(1)") + "u = t * n\nreturn out\n",
            OUT + LOOP.replace("n += 1", "n = max(n, 0)") + "u = t * n\nreturn out\n",
        ):
            result = compile_body(body)
            self.assertTrue(result["ok"], result.get("message"))


class Modules(AgainstNumpy):
    def test_a_trace_adds_no_name_to_the_kernels_module(self):
        source = """
            import neuronxcc.nki as nki
            import neuronxcc.nki.language as nl

            def twice(t, n=2):
                return t if n == 0 else twice(t * 2.0, n - 1)

            @nki.jit
            def kernel(x):
                before = set(globals())
                out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
                for i in nl.affine_range(2):
                    nl.store(out[i * 128:(i + 1) * 128, :], value=twice(nl.load(x[i * 128:(i + 1) * 128, :])))
                assert set(globals()) == before and not [n for n in before if "nki__" in n], sorted(globals())
                return out
            """
        self.assertTrue(compile_file(source)["ok"], compile_file(source).get("message"))

    def test_a_module_of_the_host_stays_as_it_was(self):
        before = set(globals())

        @nki.jit
        def kernel(x):
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            if x.shape[0] > 1:
                nl.store(out, value=nl.load(x) * 2.0)
            return out

        x = draw(8, 8)
        np.testing.assert_array_equal(kernel(x), 2 * x)
        self.assertEqual(set(globals()), before)


if __name__ == "__main__":
    unittest.main()
