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
    "cosine is in no table of the scalar engine": (
        TILE + "t = nisa.activation(op=nl.cos, data=t)\n",
        X,
        "UNSUPPORTED_OP",
        3,
        ["op=cos is not supported"],
    ),
    "gpsimd runs rsqrt alone": (
        TILE + "t = nisa.tensor_scalar(t, np.multiply, 2.0, engine=nisa.gpsimd_engine)\n",
        X,
        "UNSUPPORTED_OP",
        3,
        ["multiply on gpsimd", "nl.rsqrt alone", "engine=nisa.vector_engine"],
    ),
    "a bitwise operator before a reduction": (
        TILE + "i, s = nl.copy(t, dtype=nl.int32), nl.ndarray((128, 1), dtype=nl.int32)\n"
        "nisa.tensor_scalar_reduce(data=i, op0=np.bitwise_and, operand0=1, reduce_op=np.add, reduce_res=s)\n",
        X,
        "UNSUPPORTED_OP",
        4,
        ["op0=bitwise_and is not supported", "arithmetic"],
    ),
    "a logical reduction of tensor_scalar": (
        TILE + "s = nl.ndarray((128, 1), dtype=nl.float32)\n"
        "nisa.tensor_scalar_reduce(data=t, op0=np.add, operand0=1, reduce_op=np.logical_and, reduce_res=s)\n",
        X,
        "UNSUPPORTED_OP",
        4,
        ["reduce_op is add, subtract, multiply, max or min"],
    ),
    "a shuffle into another type": (
        TILE + "d = nl.ndarray((128, 512), dtype=nl.bfloat16)\nnisa.nc_stream_shuffle(t, d, [0] * 32)\n",
        X,
        "DTYPE",
        4,
        ["src is float32, dst is bfloat16", "dst has the data type of src"],
    ),
    "places as floats": (
        TILE + "i = nisa.nc_find_index8(data=t, vals=t[:, 0:8], dtype=nl.float32)\n",
        X,
        "DTYPE",
        3,
        ["uint16 or uint32"],
    ),
    "a signed predicate": (
        TILE + "nisa.tensor_copy_predicated(src=t, dst=t, predicate=nl.copy(t, dtype=nl.int32))\n",
        X,
        "DTYPE",
        3,
        ["predicate is int32", "nl.greater(x, 0, dtype=nl.uint8)"],
    ),
    "selecting 32-bit integers": (
        TILE + "i_p, i_f = nl.arange(128)[:, None], nl.arange(512)[None, :]\n"
        "t = nisa.affine_select(pred=i_p > i_f, on_true_tile=nl.copy(t, dtype=nl.int32), on_false_value=0.0)\n",
        X,
        "DTYPE",
        4,
        ["on_true_tile is int32", "8-bit/16-bit integer"],
    ),
    "selecting by two comparisons": (
        TILE + "i_p, i_f = nl.arange(128)[:, None], nl.arange(512)[None, :]\n"
        "t = nisa.affine_select(pred=(i_p > i_f) & (i_f > 3), on_true_tile=t, on_false_value=0.0)\n",
        X,
        "UNSUPPORTED_OP",
        4,
        ["a pred of 2 comparisons", "one call a comparison"],
    ),
    "descriptors by hardware": (
        OUT + "nisa.dma_copy(dst=out, src=x[0:128, :], dge_mode=nisa.dge_mode.hwdge)\n",
        X,
        "UNSUPPORTED_OP",
        2,
        ["NeuronCore-v3", "nisa.dge_mode.swdge"],
    ),
    "adding in memory while places are skipped": (
        OUT + "nisa.dma_copy(dst=out, src=x[0:128, :], dst_rmw_op=np.add, oob_mode=nisa.oob_mode.skip)\n",
        X,
        "UNSUPPORTED_OP",
        2,
        ["only oob_mode.error is allowed"],
    ),
    "atomic_rmw at a known place": (
        TILE + "nl.atomic_rmw(out, value=t, op=np.add)\n",
        X,
        "INDEXING",
        3,
        ["indirect dynamic indexing", "dst[idx[i_p, 0], i_f]"],
    ),
    "a part of the systolic array of 32 x 32": (
        TILE + "p = nisa.nc_matmul(t[0:32, 0:32], t[0:32, :], tile_position=(0, 0), tile_size=(32, 32))\n",
        X,
        "MATMUL_LIMIT",
        3,
        ["not both 32", "(64, 32) or (32, 64)"],
    ),
    "a part of it that starts between": (
        TILE + "p = nisa.nc_matmul(t[0:64, 0:32], t[0:64, :], tile_position=(0, 16), tile_size=(64, 64))\n",
        X,
        "MATMUL_LIMIT",
        3,
        ["multiples of 32"],
    ),
    "a part of it that is too small": (
        TILE + "p = nisa.nc_matmul(t[0:64, 0:128], t[0:64, :], tile_position=(0, 0), tile_size=(64, 64))\n",
        X,
        "MATMUL_LIMIT",
        3,
        ["at least the stationary tile's size", "tile_size=(64, 128)"],
    ),
    "a bitwise scan": (
        TILE + "i = nl.copy(t, dtype=nl.int32)\ni = nisa.tensor_tensor_scan(i, i, 0, np.bitwise_and, np.add)\n",
        X,
        "UNSUPPORTED_OP",
        4,
        ["op0=bitwise_and is not supported", "binary arithmetic operator"],
    ),
    "a negated bitwise reduction": (
        TILE + "r = nisa.tensor_reduce(np.bitwise_or, nl.copy(t, dtype=nl.int32), axis=1, negate=True)\n",
        X,
        "UNSUPPORTED_OP",
        3,
        ["negate with bitwise_or", "leave negate out"],
    ),
    "a second operand without its operator": (
        TILE + "t = nisa.tensor_scalar(t, np.add, 1.0, operand1=2.0)\n",
        X,
        "BAD_SIGNATURE",
        3,
        ["operand1 without op1"],
    ),
    "integers dropped into floats": (
        TILE + "r = nisa.dropout(nl.copy(t, dtype=nl.int32), 0.5, dtype=nl.float32)\n",
        X,
        "DTYPE",
        3,
        ["int32 data and a result of float32"],
    ),
    "a transpose by DMA of five axes": (
        "t = nisa.dma_transpose(x)\n",
        [("x", (2, 2, 2, 2, 2), "bfloat16")],
        "RANK_LAYOUT",
        1,
        ["rank 5", "4-D [3,1,2,0]"],
    ),
    "a bitwise function of floats": (TILE + "m = nl.bitwise_and(t, t)\n", X, "DTYPE", 3, ["float32", "integer"]),
}


class Operations(unittest.TestCase):
    def test_each_fault_gets_its_code_line_and_wording(self):
        check_cases(self, CASES)

    def test_an_array_of_the_host_is_no_operand(self):
        for use in ("t * a", "a * t", "a < t", "nl.multiply(t, a)", "nl.where(a, t, t)", "nl.load(a)", "t.__iadd__(a)"):
            told = compile_body(OUT + f"a = np.ones((128, 512))\nt = nl.load(x[0:128, :])\nu = {use}\n" + END)
            self.assertEqual(told.get("code"), "BAD_SIGNATURE", use)
            self.assertIn("is an array of the host, [128, 512] float64", told["message"])
            self.assertIn("nl.load(nl.shared_constant(array, dtype=nl.float32))", told["message"])
        shown = compile_body("a = np.ones((4, 2))\nu = nl.exp(nl.load(x[0:128, :]), out=a)\n")
        self.assertIn("argument out: [4, 2] float64 on the host", shown["message"])

    def test_an_index_times_a_fraction_is_told_how_to_be_a_tile(self):
        told = compile_body(TILE + "for i in nl.affine_range(2):\n    u = nl.multiply(t, i * 0.3)\n" + END)
        self.assertEqual(told.get("code"), "INDEXING")
        self.assertIn("nisa.iota(index, dtype=nl.float32)", told["message"])

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
