"""The failures that models make most: each refused with its code, at its stage, in these words; those that a compiler
accepts compile."""

import os
import re
import unittest

import numpy as np

import failure_table
import kernels
from neuronxcc.nki._trace import engine
from neuronxcc.nki._trace.errors import DOCS

WORDING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "failure_wording.txt")
COMPILE = {15, 30, 33, 34, 38, 40}  # what only verification can see
WARN = {10, 25}  # and the column of row 10, the counter of row 25


def wording():
    """The messages, in the table's order: sections that begin with '## row'."""
    sections, current = [], None
    with open(WORDING, encoding="utf-8") as file:
        for line in file:
            if line.startswith("## "):
                current = []
                sections.append((int(line[3:]), current))
            elif current is not None:
                current.append(line.rstrip("\n"))
    return [
        (number, "\n".join(lines).rstrip("\n").replace("Info on how to fix: err-", f"Info on how to fix: {DOCS}"))
        for number, lines in sections
    ]


def run(row, seed=0, scale=1.0, pick=0):
    """(inputs, outputs, report) of a row that compiles."""
    _, body, params, _ = [f for f in failure_table.FAILURES if f[0] == row and f[3] is None][pick]
    result = kernels.compile_body(body, params)
    inputs = [(np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32) for _, shape, _ in params]
    outputs, report = engine.run_raw(result["program"], inputs, result["outputs"])
    return inputs[0], outputs[0], report


class Failures(unittest.TestCase):
    def test_all_forty_are_here(self):
        self.assertEqual({f[0] for f in failure_table.FAILURES}, set(range(1, 41)))
        self.assertEqual({f[0] for f in failure_table.FAILURES if f[3] is None}, COMPILE | WARN)

    def test_each_is_refused_in_these_words_at_the_first_stage(self):
        refused = [f for f in failure_table.FAILURES if f[3] is not None]
        expected = wording()
        self.assertEqual([f[0] for f in refused], [number for number, _ in expected])
        for (row, body, params, code), (_, message) in zip(refused, expected):
            with self.subTest(row=row, body=body):
                result = kernels.compile_body(body, params)
                self.assertFalse(result["ok"])
                self.assertEqual((result["code"], result["stage"]), (code, "trace"))
                self.assertEqual(result["message"], message)

    def test_each_message_has_a_rule_and_one_fix(self):
        for number, message in wording():
            lines = message.split("\n")
            self.assertEqual(sum(line.startswith("  rule: ") for line in lines), 1, message)
            self.assertEqual(sum(line.startswith("  fix: ") for line in lines), 1, message)

    def test_each_message_names_a_line(self):
        for _, message in wording():
            self.assertRegex(message.split("\n")[0], r"\(kernel\.py:\d+\)$")

    def test_unknown_names_come_with_signatures_that_help_and_no_others(self):
        """The names of the hint, else near ones; for a name that is like nothing, where to begin."""
        for name, wanted in (
            ("nl.dot", "nl.matmul nisa.nc_matmul"),
            ("nl.clip", "nl.minimum nl.maximum"),
            ("nl.concatenate", "nl.ndarray nl.store"),
            ("nl.hardswish", "nl.multiply nl.minimum nl.maximum nl.add"),
            ("nl.relu6", "nl.minimum nl.relu"),
            ("nl.relu5", "nl.relu nl.gelu"),
            ("nl.layernorm", "nl.mean nl.var nl.rsqrt"),
            ("nl.loadd", "nl.load nl.add"),
            ("nisa.matmul", "nl.matmul nisa.nc_matmul"),
        ):
            message = kernels.compile_body(f"t = {name}(nl.load(x[0:128, :]))\n")["message"]
            near = message.split("existing names: ")[1].split("\n")[0].split("; ")
            self.assertEqual([re.match(r"((nl|nisa)\.\w+)\(.*\)$", n)[1] for n in near], wanted.split(), message)
        for name, start in (("nl.zzz", "nl's elementwise functions, nl.where"), ("nisa.qqq", "nisa.tensor_tensor")):
            message = kernels.compile_body(f"t = {name}(nl.load(x[0:128, :]))\n")["message"]
            self.assertIn(f"fix: build it of {start}", message)
            self.assertNotIn("existing names", message)

    def test_what_a_compiler_accepts_compiles(self):
        for row, body, params, code in failure_table.FAILURES:
            if code is None:
                self.assertTrue(kernels.compile_body(body, params)["ok"], row)

    def test_row_10_adds_the_column_with_advice(self):
        x, got, _ = run(10)
        np.testing.assert_array_equal(got, x[:128] + x[:128].max(axis=1, keepdims=True))
        _, body, params, _ = next(f for f in failure_table.FAILURES if f[0] == 10 and f[3] is None)
        (warning,) = kernels.compile_body(body, params)["warnings"]
        self.assertIn("data2 [128, 1] is repeated over [128, 512]; nisa.tensor_scalar", warning)

    def test_row_15_says_how_much_was_never_written(self):
        _, _, report = run(15)
        self.assertEqual(report["hints"], ["output 0: 22528 of 153600 elements were never written, first at [256, 0]"])

    def test_row_25_warns_without_blocking(self):
        _, body, params, _ = next(f for f in failure_table.FAILURES if f[0] == 25 and f[3] is None)
        (warning,) = kernels.compile_body(body, params)["warnings"]
        self.assertEqual(
            warning,
            "warning (not blocking): 'n' changes once, not in every trip: the body of the loop at line 12 is traced "
            "once; "
            "compute it from the loop variable or use nl.static_range (kernel.py:13)",
        )

    def test_row_30_gives_the_last_product_only(self):
        x, got, _ = run(30)
        np.testing.assert_allclose(got, x[128:, :128].T @ x[128:], rtol=1e-4, atol=1e-4)

    def test_row_33_is_off_by_the_rounding_of_bfloat16(self):
        x, got, _ = run(33)
        error = np.abs(got / x[:128] - 1).max()
        self.assertTrue(2**-10 < error <= 2**-8, error)

    def test_row_34_overflows_on_large_inputs_only(self):
        self.assertTrue(np.isfinite(run(34)[1]).all())
        self.assertFalse(np.isfinite(run(34, scale=100.0)[1]).all())

    def test_row_38_shows_what_was_never_loaded_as_nan(self):
        x, got, _ = run(38)
        self.assertTrue(np.array_equal(got[:64], x[:64]))
        self.assertTrue(np.isnan(got[64:]).all())

    def test_row_40_declares_the_shape_that_it_returns(self):
        x, got, _ = run(40)
        self.assertEqual(got.shape, (128 * 512,))
        self.assertTrue(np.array_equal(got.reshape(128, 512), x[:128]))


if __name__ == "__main__":
    unittest.main()
