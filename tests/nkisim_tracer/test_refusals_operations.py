"""Element types and operations that the chip does not have: code, line and wording of the diagnostic."""

import unittest

from kernels import X, compile_body
from refusal_cases import END, OUT, TILE, check_cases

FP = [("x", (128, 128), "float32"), ("b", (128, 128), "bfloat16")]

CASES = {
    "an instruction of trn2": (
        TILE + "nisa.range_select(t)\n" + END,
        X,
        "UNSUPPORTED_OP",
        3,
        ["does not exist on trn1", "NeuronCore-v3"],
    ),
    "int64": (OUT + "t = nl.zeros((128, 4), dtype=np.int64)\n", X, "DTYPE", 2, ["int64", "int32"]),
    "float32 with bfloat16": (
        "a = nl.load(x)\nc = nl.load(b)\np = nisa.nc_matmul(a, c)\n",
        FP,
        "DTYPE",
        3,
        ["float32 is multiplied with bfloat16"],
    ),
    "an integer bias": (
        TILE + "z = nl.zeros((128, 1), dtype=nl.int32)\nt = nisa.activation(op=nl.exp, data=t, bias=z)\n",
        X,
        "DTYPE",
        4,
        ["bias is int32"],
    ),
    "a reduction over partitions": (
        TILE + "s = nl.sum(t, axis=0)\n",
        X,
        "UNSUPPORTED_OP",
        3,
        ["Reduction on partition axes is not supported"],
    ),
    "an activation that is none": (
        TILE + "t = nisa.activation(op=nl.maximum, data=t)\n",
        X,
        "UNSUPPORTED_OP",
        3,
        ["maximum"],
    ),
    "a bitwise function of floats": (TILE + "m = nl.bitwise_and(t, t)\n", X, "DTYPE", 3, ["float32", "integer"]),
}


class Operations(unittest.TestCase):
    def test_each_fault_gets_its_code_line_and_wording(self):
        check_cases(self, CASES)

    def test_a_mask_that_an_instruction_cannot_take_says_which_part_to_give(self):
        grids = "p, f = nl.mgrid[0:128, 0:512]\n"
        for mask, part in (
            ("p < 100", "data[0:n, :]"),
            ("f < 100", "data[:, 0:n]"),
            ("p + f < 100", "data[0:n, 0:m]"),
        ):
            told = compile_body(TILE + grids + f"u = nisa.max8(src=t, mask=({mask}))\n" + END)
            self.assertEqual(told.get("code"), "UNSUPPORTED_OP", told)
            self.assertIn(f"give it the elements that count, e.g. {part}", told["message"])


if __name__ == "__main__":
    unittest.main()
