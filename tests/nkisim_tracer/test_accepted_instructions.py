"""What the vendor's compiler accepts of masks, accumulators and names beyond the letter of its manual: accepted here
with the numbers of numpy, or refused in words."""

import unittest

import numpy as np

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

from against_numpy import draw
from kernels import compile_body, instructions, program_of

OUT = "out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\nt = nl.load(x[0:128, :])\n"
END = "nl.store(out, value=t)\nreturn out\n"


class Masks(unittest.TestCase):
    def test_bn_stats_under_a_mask_that_is_always_true(self):
        """As version 2 of the vendor's layernorm tutorial: pieces of 512 columns, 1,024 of them."""

        @nki.jit
        def kernel(x):
            out = nl.ndarray((128, 2), dtype=nl.float32, buffer=nl.shared_hbm)
            p, f, six = nl.arange(128)[:, None], nl.arange(512)[None, :], nl.arange(6)[None, :]
            t = nl.load(x)
            stats = nl.ndarray((128, 12), dtype=np.float32)
            for k in nl.affine_range(2):
                piece = nisa.bn_stats(t[p, k * 512 + f], mask=(k * 512 + f < 1024), dtype=np.float32)
                stats[p, k * 6 + six] = piece
            nl.store(out, nisa.bn_aggr(stats))
            return out

        x = draw(128, 1024)
        want = np.stack([x.mean(axis=1, dtype=np.float64), x.var(axis=1, dtype=np.float64)], axis=1)
        np.testing.assert_allclose(kernel(x), want, rtol=1e-4, atol=1e-5)

    def test_a_mask_on_loop_variables_says_whether_it_runs(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray((4, 128, 8), dtype=nl.float32, buffer=nl.shared_hbm)
            for k in nl.affine_range(4):
                t = nl.load(x[k])
                best = nl.zeros((128, 8), dtype=nl.float32)
                best[...] = nisa.max8(src=t, mask=(k < 2))
                nl.store(out[k], value=best)
            return out

        x = draw(4, 128, 32)
        want = -np.sort(-x, axis=2)[:, :, :8]
        got = kernel(x)
        np.testing.assert_array_equal(got[:2], want[:2])
        np.testing.assert_array_equal(got[2:], np.zeros((2, 128, 8)))

    def test_what_may_be_false_is_refused_with_a_fix(self):
        p, f = "nl.arange(128)[:, None]", "nl.arange(512)[None, :]"
        for call in (
            f"nisa.bn_stats(t, mask=({f} < 500))",
            f"nisa.bn_stats(t, mask=({p} < 100))",
            f"nisa.bn_aggr(t[:, 0:510], mask=({p} < 100))",
            f"nisa.max8(src=t, mask=({f} < 500))",
            f"nisa.nc_find_index8(data=t, vals=t[:, 0:8], mask=({f} < 500))",
            f"nisa.nc_match_replace8(data=t, vals=t[:, 0:8], imm=0.0, mask=({p} < 100))",
            f"nisa.nc_stream_shuffle(t, t, [0] * 32, mask=({p} < 100))",
            f"nisa.local_gather(t, nl.zeros((128, 4), dtype=nl.uint16), mask=({p} < 100))",
        ):
            with self.subTest(call):
                result = compile_body(OUT + call)
                self.assertEqual((result["code"], result["line"]), ("UNSUPPORTED_OP", 11), result["message"])
                self.assertIn("fix: give it the elements that count", result["message"])

    def test_too_many_conditions_are_refused(self):
        mask = " & ".join(["(nl.arange(128)[:, None] < 128)"] * 65)
        self.assertEqual(compile_body(OUT + f"t = nl.exp(t, mask={mask})\n" + END)["code"], "CAPACITY")
        pred = " & ".join(["(nl.arange(128)[:, None] > nl.arange(512)[None, :])"] * 2)
        select = f"t = nisa.affine_select(pred={pred}, on_true_tile=t, on_false_value=0.0)\n"
        self.assertEqual(compile_body(OUT + select + END)["code"], "UNSUPPORTED_OP")

    def test_a_shuffle_is_of_whole_quadrants(self):
        result = compile_body(OUT + "u = t[0:48, :]\nnisa.nc_stream_shuffle(u, u, [0] * 32)\n" + END)
        self.assertEqual(result["code"], "PARTITION_LIMIT", result["message"])


class Accumulators(unittest.TestCase):
    """nisa.activation: reset_reduce, reduce and reset act on registers of the engine, which reduce_res reads out."""

    def close(self, got, want):
        np.testing.assert_allclose(got, np.asarray(want, dtype=np.float64).reshape(got.shape), rtol=1e-5)

    def test_a_sum_over_two_calls_is_read_out_by_the_second(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
            total = nl.ndarray((128, 1), dtype=nl.float32)
            nisa.activation(op=nl.exp, data=nl.load(x[0]), reduce_op=nl.add, reduce_cmd=nisa.reduce_cmd.reset_reduce)
            nisa.activation(
                op=nl.exp, data=nl.load(x[1]), reduce_op=nl.add, reduce_cmd=nisa.reduce_cmd.reduce, reduce_res=total
            )
            nl.store(out, total)
            return out

        x = draw(2, 128, 64)
        self.close(kernel(x), np.exp(x.astype(np.float64)).sum(axis=(0, 2)))

    def test_reading_out_leaves_them_and_never_reads_reduce_res(self):
        """The first call goes past the registers until the second needs what it left."""

        @nki.jit
        def kernel(x):
            out = nl.ndarray((3, 64, 1), dtype=nl.float32, buffer=nl.shared_hbm)
            one = nl.full((64, 1), 1000.0, dtype=nl.float32)
            two = nl.full((64, 1), 1000.0, dtype=nl.float32)
            three = nl.full((64, 1), 1000.0, dtype=nl.float32)
            t = nl.load(x)
            nisa.activation(
                op=nl.square, data=t, reduce_op=np.add, reduce_cmd=nisa.reduce_cmd.reset_reduce, reduce_res=one
            )
            nl.store(out[0], one)
            one[...] = 7.0
            nisa.activation(op=nl.copy, data=t, reduce_op=np.add, reduce_cmd=nisa.reduce_cmd.reduce, reduce_res=two)
            nl.store(out[1], two)
            nisa.activation(op=nl.copy, data=t, reduce_op=np.add, reduce_cmd=nisa.reduce_cmd.reset, reduce_res=three)
            nl.store(out[2], three)
            return out

        x = draw(64, 32)
        squares, plain = (x.astype(np.float64) ** 2).sum(axis=1), x.astype(np.float64).sum(axis=1)
        got = kernel(x)
        self.close(got[0], squares)
        np.testing.assert_allclose(got[1, :, 0], squares + plain, rtol=1e-5, atol=1e-4)
        self.close(got[2], np.zeros(64))

    def test_activation_reduce_resets_them(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
            first = nl.ndarray((128, 1), dtype=nl.bfloat16)
            total = nl.ndarray((128, 1), dtype=nl.float32)
            t = nl.load(x)
            nisa.activation_reduce(op=nl.square, data=t, reduce_op=np.add, reduce_res=first)
            nisa.activation(op=nl.square, data=t, reduce_op=np.add, reduce_cmd=nisa.reduce_cmd.reduce, reduce_res=total)
            nl.store(out, total)
            return out

        x = draw(128, 40)
        self.close(kernel(x), 2 * (x.astype(np.float64) ** 2).sum(axis=1))

    def test_they_live_across_the_trips_of_a_loop(self):
        for loop in (nl.affine_range, nl.sequential_range, nl.static_range):

            @nki.jit
            def kernel(x):
                out = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
                total = nl.ndarray((128, 1), dtype=nl.float32)
                nisa.activation(op=nl.copy, data=nl.load(x[0]), reduce_cmd=nisa.reduce_cmd.reset)
                for k in loop(4):
                    nisa.activation(op=nl.exp, data=nl.load(x[k]), reduce_op=np.add, reduce_cmd=nisa.reduce_cmd.reduce)
                nisa.activation(
                    op=nl.exp, data=nl.load(x[4]), reduce_op=np.add, reduce_cmd=nisa.reduce_cmd.reduce, reduce_res=total
                )
                nl.store(out, total)
                return out

            x = draw(5, 128, 16)
            self.close(kernel(x), np.exp(x.astype(np.float64)).sum(axis=(0, 2)))

    def test_one_call_is_one_instruction(self):
        body = OUT + (
            "r = nl.ndarray((128, 1), dtype=nl.float32)\n"
            "t = nisa.activation(op=nl.exp, data=t, reduce_op=np.add, reduce_cmd=nisa.reduce_cmd.{}, reduce_res=r)\n"
        )
        names = instructions(program_of(body.format("reset_reduce") + END))
        self.assertEqual(names, ["load", "activation_reduce", "part_of_former", "store"])
        result = compile_body(body.format("reduce") + END)
        self.assertIn("no call before it reset them", result["warnings"][0])


class Names(unittest.TestCase):
    def test_sizes_of_elements(self):
        from neuronxcc.nki.language.constants import sizeinbytes

        for name, size in (("bfloat16", 2), ("float32", 4), ("float8_e4m3", 1), ("int16", 2), ("bool_", 1)):
            self.assertEqual(sizeinbytes(getattr(nl, name)), size)
            self.assertEqual(nl.constants.sizeinbytes(getattr(nl, name)), size)
        self.assertEqual(sizeinbytes(np.float16), 2)
        with self.assertRaisesRegex(TypeError, "dtype float64 is not supported"):
            sizeinbytes(np.float64)

    def test_parameters_and_results_annotated_with_nki_tensor(self):
        @nki.jit
        def kernel(a: nki.tensor, b: nki.tensor) -> nki.tensor:
            out = nl.ndarray(a.shape, dtype=nl.float32, buffer=nl.shared_hbm)
            t: nki.tensor[64, 32] = nl.load(a)
            nl.store(out, nl.add(t, nl.load(b)))
            return out

        a, b = draw(64, 32), draw(64, 32)
        np.testing.assert_array_equal(kernel(a, b), a + b)

    def test_instructions_take_a_name(self):
        for call in (
            'nisa.activation(op=nl.exp, data=t, name="exp")',
            'nisa.tensor_tensor(t, t, op=np.add, name="double")',
            'nisa.tensor_copy(t, name="copy")',
        ):
            named = compile_body(OUT + f"t = {call}\n" + END)
            self.assertTrue(named["ok"], named.get("message"))
            plain = compile_body(OUT + f"t = {call[:call.index(', name')]})\n" + END)
            self.assertEqual(named["program"], plain["program"])

    def test_abs_beside_zero_and_a_true_mask_as_a_subscript(self):
        """As the vendor's sample of a quantised norm has them."""

        @nki.jit
        def kernel(x):
            out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
            top = nl.ndarray((64, 1), dtype=nl.float32, buffer=nl.shared_hbm)
            t, most = nl.load(x), nl.ndarray((64, 1), dtype=nl.float32)
            p, f = nl.mgrid[0:64, 0:32]
            a = nisa.tensor_scalar_reduce(data=t, op0=nl.abs, operand0=0.0, reduce_op=nl.max, reduce_res=most)
            u = nisa.tensor_scalar(a[p, f][f < 32], op0=nl.abs, operand0=0.0, op1=np.subtract, operand1=1.0)
            nl.store(out, value=u)
            nl.store(top, value=most)
            return out, top

        x = draw(64, 32)
        out, top = kernel(x)
        np.testing.assert_array_equal(out, np.abs(x) - 1)
        np.testing.assert_array_equal(top, np.abs(x).max(axis=1, keepdims=True))
        for call in ("nisa.tensor_scalar(t, nl.abs, 1.0)", "nl.exp(t[nl.arange(512)[None, :] < 300])"):
            self.assertIn(compile_body(OUT + f"t = {call}\n" + END)["code"], ("UNSUPPORTED_OP", "INDEXING"))

    def test_a_name_is_a_text(self):
        """Documented signatures end in further keywords, nl's as well; a name is the one that kernels give."""
        self.assertEqual(compile_body(OUT + "t = nisa.tensor_copy(t, name=3)\n" + END)["code"], "BAD_SIGNATURE")
        self.assertEqual(compile_body(OUT + "t = nl.exp(t, label='exp')\n" + END)["code"], "BAD_SIGNATURE")
        self.assertTrue(compile_body(OUT + "t = nl.exp(t, name='exp')\n" + END)["ok"])

    def test_gpsimd_reads_no_psum_whatever_the_instruction(self):
        psum = OUT + "p = nisa.nc_matmul(t[:, 0:128], t)\n"
        for call in (
            "nisa.tensor_scalar(p, np.add, 1.0, engine=nisa.gpsimd_engine)",
            "nisa.tensor_tensor(p, t, op=np.add, engine=nisa.gpsimd_engine)",
            "nisa.tensor_copy(p, engine=nisa.gpsimd_engine)",
            "nisa.tensor_copy_dynamic_src(p, engine=nisa.gpsimd_engine)",
        ):
            result = compile_body(psum + f"t = {call}\n" + END)
            self.assertEqual(result.get("code"), "WRONG_MEMORY", call)
            self.assertIn("gpsimd has no psum access", result["message"])

    def test_results_that_are_rounded_or_divided_by_all_are_told(self):
        whole = OUT + "w = nl.copy(t, dtype=nl.int32)\n"
        for call in ("nl.exp(w)", "nisa.activation(nl.tanh, w)", "nl.rsqrt(w)"):
            self.assertIn("it is rounded", compile_body(whole + f"t = {call}\n" + END)["warnings"][0])
        for call in ("nl.exp(w, dtype=nl.float32)", "nl.abs(w)"):
            self.assertEqual(compile_body(whole + f"t = {call}\n" + END)["warnings"], [])
        mask = "mask=(nl.arange(512)[None, :] < {})"
        for call in ("nl.mean(t, axis=1, {})", "nl.var(t, axis=1, {})"):
            told = compile_body(OUT + f"m = {call.format(mask.format(300))}\n" + END)["warnings"]
            self.assertIn("the divisor is that of all, 512", told[0])
            self.assertEqual(compile_body(OUT + f"m = {call.format(mask.format(512))}\n" + END)["warnings"], [])

    def test_static_cast_of_numbers_and_arrays(self):
        """As C casts them; on the host and in kernels."""
        self.assertEqual((nl.static_cast(3.9, nl.int32), nl.static_cast(-3.9, np.int32)), (3, -3))
        self.assertEqual(nl.static_cast(0.1, nl.float16), np.float16(0.1))
        self.assertEqual(nl.static_cast(1 / 3, nl.bfloat16), 0.333984375)
        got = nl.static_cast(np.array([1.5, -2.5]), nl.int8)
        self.assertEqual((got.tolist(), got.dtype), ([1, -2], np.dtype("int8")))

        @nki.jit
        def kernel(x):
            out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
            scale = nl.static_cast(1 / 3, nl.float32)
            nl.store(out, nl.multiply(nl.load(x), scale))
            return out

        x = draw(32, 16)
        np.testing.assert_array_equal(kernel(x), x * np.float32(1 / 3))


if __name__ == "__main__":
    unittest.main()
