"""What a kernel stores to and returns: code, line and wording of the diagnostic."""

import unittest

import kernels
from kernels import HEAD_LINES, X
from refusal_cases import OUT, TILE, check_cases

CASES = {
    "no store": (TILE + "return out\n", X, "OUTPUT_CONTRACT", 1, ["never written", "nl.store"]),
    "nothing returned": (
        TILE + "nl.store(out[...], value=t)\n",
        X,
        "OUTPUT_CONTRACT",
        3,
        ["returns nothing", "shared_hbm"],
    ),
    "a returned tile": (TILE + "return t\n", X, "OUTPUT_CONTRACT", 3, ["returns a tile in sbuf"]),
    "a store to a parameter": (
        TILE + "nl.store(x[0:128, :], value=t)\nreturn out\n",
        X,
        "OUTPUT_CONTRACT",
        3,
        ["Cannot update immutable parameter 'x'"],
    ),
    "shared_hbm in a loop": (
        "for i in nl.affine_range(2):\n    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\n",
        X,
        "OUTPUT_CONTRACT",
        2,
        ["inside a loop", "top level"],
    ),
    "a filled HBM tensor": (
        "out = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\n",
        X,
        "OUTPUT_CONTRACT",
        1,
        ["initial value"],
    ),
    "a returned list": (
        TILE + "nl.store(out, value=t)\nreturn [out]\n",
        X,
        "OUTPUT_CONTRACT",
        4,
        ["returns a list", "a list of 1", "return (out_a, out_b)"],
    ),
    "a returned private tensor": (
        "h = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.private_hbm)\n"
        "nl.store(h, value=nl.load(x[0:128, :]))\nreturn h\n",
        X,
        "OUTPUT_CONTRACT",
        1,
        [
            "in private HBM",
            "[128, 512] float32 in private_hbm",
            "nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)",
        ],
    ),
}


class Outputs(unittest.TestCase):
    def test_each_fault_gets_its_code_line_and_wording(self):
        check_cases(self, CASES)

    def test_shared_hbm_of_a_helper_is_refused(self):
        helper = "def make():\n    return nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\n\n\n"
        result = kernels.compile_body("out = make()\nreturn out\n", before=helper)
        self.assertEqual(result["code"], "OUTPUT_CONTRACT")
        self.assertIn("inside a helper", result["message"])
        self.assertIn("pass it to the helper", result["message"])

    def test_programs_of_a_grid_that_write_one_place_are_told(self):
        """The manual says unexpected_output_dependencies of the launch grid, too; the vendor's own tests let programs
        write equal values."""
        mine = "i = nl.program_id(0)\nt = nl.load(x[nl.ds(i * 128, 128), :])\n"
        for store, alone in (
            ("nl.store(out, value=t)\n", False),
            ("nl.store(out[0:128, :], value=t, mask=nl.arange(512)[None, :] < 9)\n", False),
            ("if i == 1:\n    nl.store(out, value=t)\n", True),
            ("nl.store(out, value=t, mask=(i < 1))\n", True),
        ):
            body = OUT + mine + store + "return out\n"
            told = " ".join(kernels.compile_body(body, before="GRID = (2,)\n")["warnings"])
            words = "all 2 programs along axis 0 of the grid write the same place"
            self.assertEqual(words in told, not alone, store + told)
            strict = kernels.compile_body(body, before="GRID = (2,)\n", strict="2.24")
            self.assertEqual(strict.get("code"), None if alone else "SCOPE_LOOP_DEP")
        indexed = OUT.replace("(128, 512)", "(256, 512)") + mine + "nl.store(out[nl.ds(i * 128, 128), :], value=t)\n"
        self.assertEqual(kernels.compile_body(indexed + "return out\n", before="GRID = (2,)\n")["warnings"], [])

    def test_a_returned_tensor_without_a_name_is_told_by_its_line(self):
        body = OUT.replace("shared_hbm", "hbm") + "nl.store(out, value=nl.load(x[0:128, :]))\nreturn out\n"
        result = kernels.compile_body(body)
        self.assertTrue(result["ok"], result.get("message"))
        self.assertIn(f"the returned tensor of line {HEAD_LINES + 3} is in nl.hbm", result["warnings"][0])


if __name__ == "__main__":
    unittest.main()
