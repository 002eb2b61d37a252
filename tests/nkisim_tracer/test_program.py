"""What a kernel becomes: nodes, forwarding, encoding, the printed form."""

import unittest

import kernels
from kernels import instructions, nodes_of, program_of

from neuronxcc.nki._trace import dump

OUT = "out = nl.ndarray((256, 512), dtype=nl.float32, buffer=nl.shared_hbm)\n"


class Programs(unittest.TestCase):
    def test_a_loop_body_is_recorded_once_with_trip_numbers(self):
        program = program_of(
            OUT + "for i in nl.affine_range(1, 3):\n    t = nl.load(x[(i - 1) * 128:i * 128, :])\n"
            "    nl.store(out[(i - 1) * 128:i * 128, :], value=t)\nreturn out\n"
        )
        (loop,) = nodes_of(program, "loop")
        self.assertEqual((loop["kind"], loop["trips"], loop["start"]), ("affine", 2, 1))
        self.assertEqual(instructions(program), ["load", "store"])
        load = next(n for n in nodes_of(program) if n.get("instr") == "load")
        source = load["sources"][0]["access"]["dims"]
        self.assertEqual(source[0], {"c": 0, "terms": [(0, 128)], "slots": [1, 0]})
        self.assertEqual(source[1], {"c": 0, "terms": [], "slots": [0, 1]})
        self.assertEqual(load["work"], "raw")

    def test_python_range_in_a_for_statement_is_sequential_but_not_in_a_comprehension(self):
        program = program_of(
            OUT
            + "k = [n * 2 for n in range(3)]\nfor i in range(2):\n    t = nl.load(x[i * 128:(i + 1) * 128, 0:k[2]])\n"
            "    nl.store(out[i * 128:(i + 1) * 128, 0:4], value=t)\nreturn out\n"
        )
        self.assertEqual(nodes_of(program, "loop")[0]["kind"], "sequential")

    def test_a_result_assigned_to_a_tile_is_written_there_directly(self):
        program = program_of(
            OUT + "t = nl.ndarray((128, 512), dtype=nl.float32)\nu = nl.load(x[0:128, :])\nt[...] = nl.exp(u)\n"
            "nl.store(out[0:128, :], value=t)\nreturn out\n"
        )
        self.assertEqual(instructions(program), ["load", "activation", "store"])
        self.assertEqual(len(nodes_of(program, "alloc")), 2)

    def test_a_matmul_that_is_added_becomes_one_accumulating_matmul(self):
        program = program_of(
            OUT + "acc = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)\nfor k in nl.affine_range(2):\n"
            "    t = nl.load(x[k * 128:(k + 1) * 128, :])\n    acc += nisa.nc_matmul(t[:, 0:128], t)\n"
            "nl.store(out[0:128, :], value=acc)\nreturn out\n"
        )
        (matmul,) = nodes_of(program, "matmul")
        self.assertEqual(matmul["accumulate"], 1)
        self.assertEqual(matmul["shape"], [128, 128, 512])
        self.assertEqual(program["buffers"][matmul["dst"]["buffer"]]["kind"], "psum")

    def test_a_rounding_is_never_forwarded_away(self):
        program = program_of(
            OUT
            + "t = nl.ndarray((128, 512), dtype=nl.float32)\nt[...] = nl.exp(nl.load(x[0:128, :]), dtype=nl.bfloat16)\n"
            "nl.store(out[0:128, :], value=t)\nreturn out\n"
        )
        self.assertEqual(instructions(program), ["load", "activation", "tensor_copy", "store"])

    def test_partition_broadcast_is_a_zero_slot(self):
        program = program_of(
            OUT + "t = nl.add(nl.load(x[0:128, :]), nl.load(x[0:1, :]))\nnl.store(out[0:128, :], value=t)\nreturn out\n"
        )
        add = next(n for n in nodes_of(program, "map") if n["steps"])
        self.assertEqual([d["slots"] for d in add["sources"][1]["access"]["dims"]], [[0, 0], [0, 1]])

    def test_a_fold_has_zero_slots_on_its_reduced_axes(self):
        program = program_of(
            OUT + "m = nl.max(nl.load(x[0:128, :]), axis=1)\nnl.store(out[0:128, 0:1], value=m)\nreturn out\n"
        )
        (fold,) = nodes_of(program, "fold")
        self.assertEqual((fold["function"], fold["shape"]), ("maximum", [128, 512]))
        self.assertEqual([d["slots"] for d in fold["dst"]["dims"]], [[1, 0], [0, 0]])

    def test_masks_are_conditions_over_the_operation_s_space(self):
        program = program_of(
            OUT + "p, f = nl.mgrid[0:128, 0:512]\nt = nl.load(x[p, f], mask=(p < 100) & (f > 3))\n"
            "nl.store(out[p, f], value=t)\nreturn out\n"
        )
        load = next(n for n in nodes_of(program) if n.get("instr") == "load")
        self.assertEqual(
            [(c["kind"], c["index"]["c"], c["index"]["slots"]) for c in load["mask"]],
            [(">= 0", 99, [-1, 0]), (">= 0", -4, [0, 1])],
        )

    def test_outputs_have_no_alloc_and_private_hbm_has_one(self):
        program = program_of(
            OUT + "keep = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.private_hbm)\n"
            "nl.store(keep, value=nl.load(x[0:128, :]))\n"
            "nl.store(out[0:128, :], value=nl.load(keep))\nreturn out\n"
        )
        kinds = [program["buffers"][n["buffer"]]["kind"] for n in nodes_of(program, "alloc")]
        self.assertEqual(kinds.count("hbm"), 1)
        self.assertNotIn("output", kinds)
        self.assertEqual([program["buffers"][b]["kind"] for b in program["outputs"]], ["output"])

    def test_the_same_file_gives_the_same_bytes(self):
        body = OUT + "t = nl.softmax(nl.load(x[0:128, :]), axis=1)\nnl.store(out[0:128, :], value=t)\nreturn out\n"
        first, second = kernels.compile_body(body), kernels.compile_body(body)
        self.assertEqual(first["program"], second["program"])

    def test_the_printed_form_names_every_operation(self):
        result = kernels.compile_body(
            OUT + "for i in nl.affine_range(2):\n    t = nl.load(x[i * 128:(i + 1) * 128, :])\n    if i > 0:\n"
            "        t += 1.0\n"
            "    nl.store(out[i * 128:(i + 1) * 128, :], value=t)\nreturn out\n"
        )
        text = dump.text_of(result["program"])
        for part in (
            "loop t0 affine 2 trips",
            "if t0-1 >= 0",
            "load/dma 128x512",
            "add= 1.0",
            "param0'x'[128*t0+a, b]",
        ):
            self.assertIn(part, text)


if __name__ == "__main__":
    unittest.main()
