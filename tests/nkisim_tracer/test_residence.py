"""What is alive at once must fit into a partition's 192 KiB of SBUF and eight banks of PSUM."""

import unittest

from kernels import HEAD_LINES, compile_body

WIDE = [("x", (128, 16384), "float32")]  # 64 KiB a partition
OUT = "out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\n"


class Sbuf(unittest.TestCase):
    def assert_fits(self, body, params=WIDE):
        result = compile_body(OUT + body + "return out", params)
        self.assertTrue(result["ok"], result.get("message"))

    def refusal(self, body, params=WIDE):
        result = compile_body(OUT + body + "return out", params)
        self.assertEqual(result.get("code"), "CAPACITY", result)
        return result

    def test_three_tiles_of_64_kib_fill_it_and_four_do_not_fit(self):
        self.assert_fits(
            "a = nl.load(x)\nb = nl.exp(a)\nc = nl.multiply(a, b)\nnl.store(out, nl.add(nl.add(a, b), c))\n"
        )
        told = self.refusal(
            "a = nl.load(x)\nb = nl.exp(a)\nc = nl.multiply(a, b)\nd = nl.add(b, c)\n"
            "nl.store(out, nl.add(nl.add(a, b), nl.add(c, d)))\n"
        )
        self.assertIn("tiles alive at once need", told["message"])
        for name in "abcd":
            self.assertIn(f"  {name}: [128, 16384] float32, 65536 bytes a partition", told["message"])
        self.assertIn("sbuf has 196608 bytes a partition (192 KiB)", told["message"])
        self.assertEqual(told["line"], HEAD_LINES + 8)

    def test_one_instruction_whose_operand_and_result_do_not_fit(self):
        body = "a = nl.load(x)\nb = nl.multiply(a, 2.0)\nnl.store(out, b)\n"
        told = self.refusal(body, [("x", (128, 24642), "float32")])  # 98,568 bytes: two need 197,136
        self.assertIn("197136 bytes", told["message"])
        self.assert_fits(body, [("x", (128, 24576), "float32")])

    def test_one_after_another_is_no_crowd(self):
        self.assert_fits("".join(f"t{k} = nl.load(x)\nnl.store(out, nl.exp(t{k}))\n" for k in range(6)))

    def test_what_was_loaded_may_be_loaded_again(self):
        """A layer norm with seven tiles of 32 KiB in sight ran on Trn1: four of them were loaded."""
        loads = "".join(f"t{k} = nl.load(x)\n" for k in range(6))
        self.assert_fits(loads + "".join(f"nl.store(out, nl.exp(t{k}))\n" for k in range(6)))
        self.assert_fits(
            loads + "s = nl.add(t0, t1)\n" + "".join(f"s = nl.add(s, t{k})\n" for k in range(6)) + "nl.store(out, s)\n"
        )

    def test_what_a_loop_carries_is_alive_all_through_it(self):
        loop = "s = nl.zeros((128, 16384), dtype=nl.float32)\nfor i in nl.sequential_range(4):\n"
        inside = (
            "    a = nl.exp(nl.load(x))\n    b = nl.exp(a)\n    c = nl.multiply(a, b)\n"
            "    d = nl.add(nl.add(b, c), a)\n    s[...] = nl.add({}, d)\n    nl.store(out, s)\n"
        )
        self.refusal(loop + inside.format("s"))  # beside a, b and c there is the sum so far
        self.assert_fits(loop + inside.format("1.0"))  # a new sum in each trip

    def test_what_is_only_added_to_counts(self):
        body = (
            "ts = [nl.zeros((128, 16384), dtype=nl.float32) for k in range({0})]\n"
            "for i in nl.sequential_range(4):\n    e = nl.exp(nl.load(x[:, 0:1]))\n"
            "    for k in nl.static_range({0}):\n        ts[k] += e\n"
            "for k in nl.static_range({0}):\n    nl.store(out, ts[k])\n"
        )
        self.assertIn("5 tiles alive at once", self.refusal(body.format(4))["message"])
        self.assert_fits(body.format(2))

    def test_block_tensors_go_out_and_come_back(self):
        """As measured kernels do, by gigabytes: of one only what an instruction touches counts."""
        body = (
            "t = nl.ndarray((16, nl.par_dim(128), 16384), dtype=nl.float32)\n"
            "for i in nl.affine_range(16):\n    t[i] = nl.load(x)\nfor i in nl.sequential_range(16):\n"
            "    nl.store(out, nl.exp(t[i]))\n"
        )
        self.assert_fits(body)

    def test_tiles_placed_by_hand_are_the_kernels_business(self):
        place = "buffer=ncc.sbuf.mod_alloc(base_addr=0)"
        tiles = "".join(
            f"t{k} = nl.ndarray((128, 16384), dtype=nl.float32, {place})\nt{k}[...] = nl.load(x)\n" for k in range(4)
        )
        body = "import neuronxcc.nki.compiler as ncc\n" + tiles
        self.assert_fits(body + "nl.store(out, nl.add(nl.add(t0, t1), nl.add(t2, t3)))\n")


class Psum(unittest.TestCase):
    MATMULS = (
        "out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\na = nl.load(x[0:128, 0:128])\n"
        "b = nl.load(x[0:128, :])\np = [nisa.nc_matmul(a, b) for k in range({})]\ns = nl.copy(p[0])\n"
        "for k in nl.static_range({}):\n    s = nl.add(s, p[k])\nnl.store(out, s)\nreturn out"
    )

    def test_eight_results_have_a_bank_each_and_nine_have_not(self):
        self.assertTrue(compile_body(self.MATMULS.format(8, 8))["ok"])
        told = compile_body(self.MATMULS.format(9, 9))
        self.assertEqual(told.get("code"), "CAPACITY")
        self.assertIn("18432 bytes a partition of psum", told["message"])
        self.assertIn("8 banks of 2 KiB", told["message"])

    def test_accumulators_have_a_bank_each(self):
        body = (
            "out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\na = nl.load(x[0:128, 0:128])\n"
            "b = nl.load(x[0:128, :])\n"
            "p = [nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum) for k in range({0})]\n"
            "for i in nl.affine_range(4):\n    for k in nl.static_range({0}):\n        p[k] += nisa.nc_matmul(a, b)\n"
            "for k in nl.static_range({0}):\n    nl.store(out, nl.copy(p[k]))\nreturn out"
        )
        self.assertTrue(compile_body(body.format(8))["ok"])
        for count in (9, 16):
            told = compile_body(body.format(count))
            self.assertEqual(told.get("code"), "CAPACITY")
            self.assertIn(f"{count} tiles alive at once need {2048 * count} bytes a partition of psum", told["message"])


if __name__ == "__main__":
    unittest.main()
