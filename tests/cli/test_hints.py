#!/usr/bin/python3
"""What verify says about kernels that compile on hardware and are wrong: the hint names the variable, the line and the
cause."""
import json
import unittest

import harness

HEAD = (  # 6 lines
    "from neuronxcc import nki\nimport neuronxcc.nki.isa as nisa\nimport neuronxcc.nki.language as nl\n\n\n@nki.jit\n"
)

# Each begins on line 7. x + 0.5 y on 300 rows by 700 columns, unless the task says otherwise.
FORGETS_THE_LAST_TILE = """def kernel(x, y):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for t in nl.affine_range(300 // 128):
        rows = nl.ds(t * 128, 128)
        nl.store(out[rows, 0:700], value=nl.add(nl.load(x[rows, 0:700]), nl.multiply(nl.load(y[rows, 0:700]), 0.5)))
    return out
"""
ACCUMULATOR_INSIDE_THE_LOOP = """def kernel(a, b):
    out = nl.ndarray((256, 600), dtype=nl.float32, buffer=nl.shared_hbm)
    for m in nl.affine_range(2):
        for n in nl.affine_range(2):
            for k in nl.sequential_range(3):
                acc = nl.zeros((128, 300), dtype=nl.float32, buffer=nl.psum)
                left = nl.load_transpose2d(a[nl.ds(m * 128, 128), nl.ds(k * 128, 128)])
                acc += nisa.nc_matmul(left, nl.load(b[nl.ds(k * 128, 128), nl.ds(n * 300, 300)]))
                nl.store(out[nl.ds(m * 128, 128), nl.ds(n * 300, 300)], value=nl.copy(acc))
    return out
"""
HALF_PRECISION = """def kernel(x, y):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for t in nl.affine_range(3):
        rows = nl.ds(t * 100, 100)
        short = nl.copy(nl.load(x[rows, 0:700]), dtype=nl.bfloat16)
        nl.store(out[rows, 0:700], value=nl.add(short, nl.multiply(nl.load(y[rows, 0:700]), 0.5), dtype=nl.float32))
    return out
"""
SOFTMAX_WITHOUT_MAXIMUM = """def kernel(scores):
    out = nl.ndarray(scores.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    for b in nl.affine_range(2):
        for h in nl.affine_range(8):
            tile = nl.load(scores[b, h, 0:96, 0:80])
            weight = nisa.activation(op=nl.exp, data=tile, scale=400.0)
            nl.store(out[b, h, 0:96, 0:80], value=nl.divide(weight, nl.sum(weight, axis=1, keepdims=True)))
    return out
"""
ELEMENTWISE = """def kernel(x, y):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for t in nl.affine_range(3):
        rows = nl.ds(t * 100, 100)
        a = nl.load(x[rows, 0:700])
        nl.store(out[rows, 0:700], value=EXPRESSION)
    return out
"""
MASKED_OFF_LANES = """def kernel(x, y):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.mgrid[0:100, 0:700]
    for t in nl.affine_range(3):
        a = nl.load(x[t * 100 + i_p, i_f], mask=t * 100 + i_p < 250)
        nl.store(out[t * 100 + i_p, i_f], value=nl.add(a, nl.multiply(nl.load(y[t * 100 + i_p, i_f]), 0.5)))
    return out
"""
DEPENDENT_TRIPS = """def kernel(x, y):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    sums = nl.ndarray((4, 100, 700), dtype=nl.float32, buffer=nl.hbm)
    nl.store(sums[0], value=nl.load(x[0:100, 0:700]))
    for t in nl.affine_range(3):
        rows = nl.ds(t * 100, 100)
        tile = nl.add(nl.load(sums[t]), nl.load(y[rows, 0:700]))
        nl.store(sums[t + 1], value=tile)
        nl.store(out[rows, 0:700], value=tile)
    return out
"""
RIGHT = ELEMENTWISE.replace("EXPRESSION", "nl.add(a, nl.multiply(nl.load(y[rows, 0:700]), 0.5))")


class Hints(harness.Case):
    def check(self, body, task="L1/001_add", *more):
        done = harness.nkigrid("kernel", self.write("kernel.py", HEAD + body), "--task", task, "--json", *more)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        answer = json.loads(done.stdout)
        self.assertTrue(answer["compile"]["ok"], answer["compile"]["message"])
        return answer

    def failing(self, body, code, *words, task="L1/001_add"):
        answer = self.check(body, task)
        self.assertEqual(answer["outcome"], "mismatch")
        self.assertEqual(answer["verify"]["code"], code)
        for word in words:
            self.assertTrue(any(word in hint for hint in answer["verify"]["hints"]), (word, answer["verify"]["hints"]))
        return answer["verify"]["hints"]

    def test_a_forgotten_last_tile_is_counted_and_placed(self):
        hints = self.failing(
            FORGETS_THE_LAST_TILE,
            "NON_FINITE_UNINIT",
            "output 0: 30800 of 210000 elements were never written, first at [256, 0]",
        )
        self.assertFalse([h for h in hints if "read before" in h], hints)

    def test_a_psum_tile_made_in_the_contraction_loop_is_named(self):
        self.failing(
            ACCUMULATOR_INSIDE_THE_LOOP,
            "NUMERIC_MISMATCH",
            "variable `out` (line 8) is overwritten at line 15 in every trip of the loop at line 11 (variable `k`), "
            "only the last trip stays; "
            "the PSUM tile `acc` (line 12) is made anew in each trip, so nothing accumulates: "
            "create it before that loop",
            task="L1/008_matmul",
        )

    def test_a_bfloat16_intermediate_is_named_with_its_rounding(self):
        self.failing(
            HALF_PRECISION,
            "NUMERIC_MISMATCH",
            "variable `short` (line 11) is held in bfloat16, which rounds to 2^-8 relative",
            "about one bfloat16 rounding",
        )

    def test_an_exponential_that_overflows_is_named_with_the_values_seen(self):
        self.failing(
            SOFTMAX_WITHOUT_MAXIMUM,
            "NON_FINITE_UNINIT",
            "exp at line 12 overflows above 88.7",
            "values made of variable `tile` (line 11) lie outside (seen: -",
            "subtract the row's maximum first",
            task="L1/007_softmax",
        )

    def test_functions_outside_of_their_range_are_named(self):
        for expression, code, words in (
            (
                "nl.log(nl.multiply(a, 0.0))",
                "NON_FINITE_UNINIT",
                "log at line 12 needs values above 0: 210000 of 210000",
            ),
            ("nl.sqrt(a)", "NON_FINITE_UNINIT", "sqrt at line 12 needs values of at least 0"),
            ("nl.sin(nl.multiply(a, 100.0))", "NUMERIC_MISMATCH", "sin at line 12 is exact on [-pi, pi] alone"),
        ):
            with self.subTest(expression=expression):
                self.failing(ELEMENTWISE.replace("EXPRESSION", expression), code, words)

    def test_masked_off_lanes_that_reach_the_output_are_named_by_variable_and_index(self):
        self.failing(
            MASKED_OFF_LANES,
            "NON_FINITE_UNINIT",
            "variable `a` (line 11) was read before it was written, first at [50, 0] by line 12",
        )

    def test_a_dependence_between_affine_trips_is_found_by_another_order(self):
        words = (
            "affine_range at line 11 (variable `t`) carries a dependence: its result depends on the order of the trips"
        )
        self.failing(DEPENDENT_TRIPS, "NUMERIC_MISMATCH", words)
        orders = self.check(DEPENDENT_TRIPS, "L1/001_add", "--shuffle-loops")["orders"]
        self.assertEqual(len(orders), 1)
        self.assertIn(words, orders[0])

    def test_a_right_kernel_has_no_notes_and_one_result_in_every_order(self):
        answer = self.check(RIGHT, "L1/001_add", "--shuffle-loops", "--shuffle-seed", "7")
        self.assertEqual((answer["outcome"], answer["notes"], answer["orders"]), ("pass", [], []))
        self.assertIsNone(self.check(RIGHT)["orders"])

    def test_a_kernel_that_passes_has_its_dangerous_calls_noted(self):
        answer = self.check(
            RIGHT.replace("nl.add(a,", "nl.add(nl.add(a, nl.multiply(nl.sin(nl.multiply(a, 50.0)), 1e-9)),")
        )
        self.assertEqual(answer["outcome"], "pass")
        self.assertTrue(any("sin at line 12" in note for note in answer["notes"]), answer["notes"])


if __name__ == "__main__":
    unittest.main()
