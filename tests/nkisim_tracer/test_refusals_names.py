"""Names and signatures that do not exist: code, line and wording of the diagnostic."""

import unittest

import kernels
from kernels import X
from refusal_cases import END, OUT, TILE, check_cases

CASES = {
    "a dot product by name": (
        TILE + "t = nl.dot(t, t)\n" + END,
        X,
        "UNKNOWN_API",
        3,
        ["no attribute 'dot'", "nl.matmul(x, y"],
    ),
    "einsum": (
        TILE + "t = nl.einsum('ij,ij', t, t)\n" + END,
        X,
        "UNKNOWN_API",
        3,
        ["einsum", "nc_matmul(stationary, moving"],
    ),
    "clip": (TILE + "t = nl.clip(t, 0, 1)\n" + END, X, "UNKNOWN_API", 3, ["nl.minimum(nl.maximum(x, lo), hi)"]),
    "a near name": (TILE + "t = nl.expp(t)\n" + END, X, "UNKNOWN_API", 3, ["nl.exp(x, *, dtype=None, mask=None)"]),
    "a tile method": (
        TILE + "m = t.mean(axis=1)\n" + END,
        X,
        "UNKNOWN_API",
        3,
        ["no attribute 'mean'", "nl.mean(x, axis"],
    ),
    "a name for nisa": (TILE + "t = nisa.matmul(t, t)\n" + END, X, "UNKNOWN_API", 3, ["nl.matmul", "nisa.nc_matmul"]),
    "numpy on a tile": (TILE + "t = np.exp(t)\n" + END, X, "UNKNOWN_API", 3, ["numpy.exp", "nl.exp"]),
    "a name of a later SDK": (
        TILE + "t = nl.gather_flattened(t, t)\n" + END,
        X,
        "UNKNOWN_API",
        3,
        ["no attribute 'gather_flattened'", "since SDK 2.25"],
    ),
    "a wrong keyword": (
        TILE + "s = nl.sum(t, dim=1)\n" + END,
        X,
        "BAD_SIGNATURE",
        3,
        ["nl.sum() ", "dim", "nl.sum(x, axis"],
    ),
    "a missing argument": (TILE + "s = nisa.nc_matmul(t[:, 0:128])\n" + END, X, "BAD_SIGNATURE", 3, ["'moving'"]),
    "destination first": (TILE + "nisa.tensor_copy(dst=t, src=t)\n" + END, X, "WRONG_API_ERA", 3, ["dst", "SDK 2.24"]),
    "the matmul operator": (TILE + "t = t @ t\n", X, "UNKNOWN_API", 3, ["operator @", "nl.matmul"]),
    "program_id without a grid": (OUT + "i = nl.program_id(0)\n", X, "BAD_SIGNATURE", 2, ["GRID"]),
}


class Names(unittest.TestCase):
    def test_each_fault_gets_its_code_line_and_wording(self):
        check_cases(self, CASES)

    def test_python_and_numpy_on_a_tile_are_answered_with_what_does_the_same(self):
        """Numpy's functions by what they compute, conversions by a conversion; op= for what is one only."""
        for call, fix, op in (
            ("round(t)", "call nl.copy(x, dtype=nl.int32)", False),
            ("float(t)", "tile.astype(nl.float32)", False),
            ("int(t)", "tile.astype(nl.int32)", False),
            ("np.float32(t)", "write tile.astype(nl.float32)", False),
            ("np.matmul(t, t)", "call nl.matmul(x, y", False),
            ("np.add.reduce(t)", "call nl.sum(x, axis", True),
            ("np.maximum.reduce(t)", "call nl.max(x, axis", True),
            ("np.exp(t)", "call nl.exp(x", True),
        ):
            with self.subTest(call):
                message = kernels.compile_body(TILE + f"t = {call}\n" + END)["message"]
                self.assertIn(f"fix: {fix}", message)
                self.assertEqual("as op= of a nisa instruction" in message, op, message)

    def test_names_of_other_libraries_lead_to_the_function_of_their_kind(self):
        for name, wanted in (
            ("nl.remainder", "nl.mod(x, y)"),
            ("nl.square_root", "nl.sqrt(x)"),
            ("nl.sqroot", "nl.sqrt(x)"),
            ("nisa.dma_start", "nisa.dma_copy("),
            ("nl.round", "nl.copy(x, dtype=nl.int32)"),
            ("nl.std", "nl.sqrt(nl.var(x, axis))"),
            ("nl.isnan", "nl.not_equal(x, x)"),
            ("nl.log1p", "nl.log(nl.add(x, 1.0))"),
            ("nisa.tensor_add", "nisa.tensor_tensor("),
        ):
            with self.subTest(name):
                message = kernels.compile_body(TILE + f"t = {name}(t)\n" + END)["message"]
                self.assertIn(f"fix: write {wanted}", message)
                hint, _, names = message.partition("fix: write ")[2].partition(" | existing names: ")
                for existing in names.split("; "):  # no noise
                    self.assertIn(existing.partition("(")[0], hint)

    def test_a_name_like_no_other_has_no_neighbours(self):
        message = kernels.compile_body(TILE + "t = nl.quaternion(t)\n" + END)["message"]
        self.assertIn("fix: build it of nl's elementwise functions", message)
        self.assertNotIn("existing names", message)

    def test_attributes_of_other_arrays_are_answered_with_what_does_the_same(self):
        for use, wanted in (
            ("t.to(nl.bfloat16)", "fix: tile.astype(dtype)"),
            ("t.float()", "fix: tile.astype(nl.float32)"),
            ("t[0, 0].item()", "fix: a kernel is traced without data"),
            ("t.permute(1, 0)", "fix: an index grid with its axes in another place"),
        ):
            with self.subTest(use):
                self.assertIn(wanted, kernels.compile_body(TILE + f"t = {use}\n" + END)["message"])

    def test_arguments_in_another_order_are_answered_with_the_signature(self):
        for call in (
            "nisa.activation(t, nl.exp)",
            "nisa.tensor_tensor(np.add, t, t)",
            "nisa.tensor_reduce(t, np.add, 1)",
            "nisa.tensor_scalar(t, 2.0, np.multiply)",
        ):
            with self.subTest(call):
                told = kernels.compile_body(TILE + f"t = {call}\n" + END)
                self.assertEqual(told["code"], "BAD_SIGNATURE")
                self.assertIn("got the function", told["message"])
                self.assertIn("fix: " + call.partition("(")[0] + "(", told["message"])

    def test_sizes_that_are_no_tuple(self):
        self.assertIn("nl.zeros((128, 64), dtype=", kernels.compile_body(OUT + "t = nl.zeros(128, 64)\n")["message"])

    def test_a_later_name_that_is_like_no_other_ends_with_its_sdk(self):
        message = kernels.compile_body(TILE + "t = nl.gather_flattened(t, t)\n" + END)["message"]
        self.assertRegex(message, r"fix: compile for sdk 2\.25($|\n)")

    def test_probing_for_a_name_is_legal(self):
        self.assertTrue(kernels.compile_body(TILE + "if not hasattr(nl, 'fancy'):\n    t = nl.exp(t)\n" + END)["ok"])

    def test_later_names_and_strict_names_follow_the_options(self):
        body = TILE + "t = nl.gelu_apprx_sigmoid(t)\n" + END
        self.assertEqual(kernels.compile_body(body, sdk="2.24")["code"], "UNKNOWN_API")
        self.assertTrue(kernels.compile_body(body, sdk="2.26")["ok"])
        matmul = TILE + "p = nl.matmul(t[:, 0:128], t)\nt[...] = p\n" + END
        self.assertTrue(kernels.compile_body(matmul)["ok"])
        hidden = kernels.compile_body(matmul, strict_paper_names=True)
        self.assertEqual(hidden["code"], "UNKNOWN_API")
        self.assertNotIn("nl.matmul(", hidden["message"])


if __name__ == "__main__":
    unittest.main()
