"""What the vendor's compiler accepts beyond the letter of its manual: accepted here with the numbers of numpy, or
refused in words."""

import unittest

import numpy as np

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

from against_numpy import draw
from kernels import compile_body

OUT = "out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\nt = nl.load(x[0:128, :])\n"
END = "nl.store(out, value=t)\nreturn out\n"


def _rows_of(tile):
    """As public builders of kernels do, whose kernels ran on Trainium: index grids are made before the kernel is."""
    i_p, i_f, third = nl.arange(tile)[:, None], nl.arange(64)[None, :], nl.ds(0, tile)

    @nki.jit
    def kernel(x):
        out = nl.ndarray((4 * tile, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        for i in nl.affine_range(4):
            nl.store(out[i * tile + i_p, i_f], value=nl.load(x[i * tile + i_p, i_f]))
        nl.store(out[third, :], value=0.0)
        return out

    return kernel


class Indices(unittest.TestCase):
    def test_grids_made_outside_of_a_kernel(self):
        for tile in (16, 32):
            x = draw(4 * tile, 64)
            want = np.concatenate([np.zeros((tile, 64)), x[tile:]])
            np.testing.assert_array_equal(_rows_of(tile)(x), want)

    def test_an_index_tile_before_axes_of_one_place(self):
        """As a simulator of quantum circuits on Trn1 reads its state, of shape (2, n, 1)."""

        @nki.jit
        def kernel(state, places):
            out = nl.ndarray(state.shape, dtype=state.dtype, buffer=nl.shared_hbm)
            idx = nl.load(places)
            for k in nl.affine_range(2):
                column = nl.load(state[0, idx[:, k].as_tile()])
                nl.store(out[1, idx[:, k].as_tile()], value=column)
                nl.store(out[0, nl.ds(k * 64, 64), 0], value=nl.load(state[1, nl.ds(k * 64, 64)]))
            return out

        state, places = draw(2, 128, 1), np.random.default_rng(5).permutation(128).reshape(64, 2).astype(np.uint32)
        np.testing.assert_array_equal(kernel(state, places), state[::-1])


class Shapes(unittest.TestCase):
    def test_tensor_tensor_repeats_free_axes_of_size_1(self):
        for small, large in (
            ((64, 1), (64, 40)),
            ((64, 5, 1), (64, 5, 8)),
            ((64, 1, 8), (64, 5, 8)),
            ((64, 1), (64, 5, 8)),
        ):

            @nki.jit
            def kernel(a, b):
                one = nl.ndarray(large, dtype=nl.float32, buffer=nl.shared_hbm)
                two = nl.ndarray(large, dtype=nl.float32, buffer=nl.shared_hbm)
                s, t = nl.load(a), nl.load(b)
                nl.store(one, value=nisa.tensor_tensor(s, t, op=np.subtract))
                nl.store(two, value=nisa.tensor_tensor(t, s, op=np.subtract))
                return one, two

            a, b = draw(*small), draw(*large)
            spread = a.reshape(small + (1,) * (len(large) - len(small)))
            one, two = kernel(a, b)
            np.testing.assert_array_equal(one, spread - b)
            np.testing.assert_array_equal(two, b - spread)

    def test_dma_copy_takes_vectors_for_columns_and_rows(self):
        @nki.jit
        def kernel(x):
            column = nl.ndarray((128,), dtype=nl.float32, buffer=nl.shared_hbm)
            row = nl.ndarray((128,), dtype=nl.float32, buffer=nl.shared_hbm)
            t = nl.ndarray((128, 2), dtype=nl.float32, buffer=nl.sbuf)
            r = nl.ndarray((1, 128), dtype=nl.float32, buffer=nl.sbuf)
            flat = x.reshape((512,))
            nisa.dma_copy(dst=t[:, 1], src=flat[128:256])
            nisa.dma_copy(dst=r, src=flat[256:384])
            nisa.dma_copy(dst=column, src=t[:, 1])
            nisa.dma_copy(dst=row, src=r)
            return column, row

        x = draw(128, 4)
        column, row = kernel(x)
        np.testing.assert_array_equal(column, x.reshape(-1)[128:256])
        np.testing.assert_array_equal(row, x.reshape(-1)[256:384])

    def test_dma_copy_does_not_mind_axes_of_size_1(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray((64, 6), dtype=nl.float32, buffer=nl.shared_hbm)
            t = nl.ndarray((64, 1, 6, 1), dtype=nl.float32, buffer=nl.sbuf)
            u = nl.ndarray((64, 6), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=t, src=x)
            nisa.dma_copy(dst=u, src=t)
            nisa.dma_copy(dst=out, src=u.expand_dims(1))
            return out

        x = draw(64, 6)
        np.testing.assert_array_equal(kernel(x), x)

    def test_a_size_that_was_divided_is_a_size(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
            t = nl.load(x).reshape((64, x.shape[1] / 2, 2))
            nl.store(out, value=t.reshape(x.shape))
            return out

        x = draw(64, 6)
        np.testing.assert_array_equal(kernel(x), x)
        warned = compile_body("t = nl.load(x[0:128, :]).reshape((128, 512 / 2, 2))\n" + OUT + END)["warnings"]
        self.assertIn("float", "".join(warned))
        self.assertEqual(compile_body("t = nl.load(x[0:128, :]).reshape((128, 1.5))")["code"], "RANK_LAYOUT")

    def test_other_vectors_stay_refused(self):
        for src in ("x.reshape((131072,))[0:64]", "x.reshape((131072,))[0:256]"):
            body = f"t = nl.ndarray((128, 1), dtype=nl.float32)\nnisa.dma_copy(dst=t, src={src})"
            self.assertEqual(compile_body(body)["code"], "SHAPE_BROADCAST")


class Reductions(unittest.TestCase):
    def test_tensor_reduce_takes_any_free_axes(self):
        """As pooling kernels that were graded on chips do; the manual of 2.24 has the last axes alone."""
        for axes, shape in (([2, 4], (64, 3, 2, 5, 2)), (2, (64, 3, 2, 5)), ((1, 3), (64, 2, 7, 2)), ([1], (64, 4, 9))):
            expected = tuple(axes) if isinstance(axes, (list, tuple)) else (axes,)
            kept = [n for k, n in enumerate(shape) if k not in expected]

            @nki.jit
            def kernel(x):
                out = nl.ndarray(kept, dtype=nl.float32, buffer=nl.shared_hbm)
                nl.store(out, value=nisa.tensor_reduce(np.max, nl.load(x), axis=axes))
                return out

            x = draw(*shape)
            np.testing.assert_array_equal(kernel(x), x.max(axis=expected))

    def test_those_are_told(self):
        body = OUT + "s = nisa.tensor_reduce(np.add, t.reshape((128, 8, 64)), axis={})\n" + END
        self.assertIn("not its last ones", "".join(compile_body(body.format(1))["warnings"]))
        self.assertEqual(compile_body(body.format(2))["warnings"], [])

    def test_loop_reduce_has_a_name(self):
        body = (
            OUT + "p = nl.ndarray((4, nl.par_dim(128), 512), dtype=nl.float32)\nfor i in nl.affine_range(4):\n"
            "    p[i] = nl.multiply(t, 2.0)\n    s = nl.loop_reduce(p[i], np.add, loop_indices=[i], name='sum')\n" + END
        )
        self.assertTrue(compile_body(body)["ok"], compile_body(body).get("message"))


class Branches(unittest.TestCase):
    def test_a_name_that_both_sides_give_to_tensors_from_outside(self):
        """As paged attention that ran on Neuron devices: the running maximum is a tile, or the buffer that holds it."""

        @nki.jit
        def kernel(x):
            out = nl.ndarray((4, 64, 1), dtype=nl.float32, buffer=nl.shared_hbm)
            running = nl.zeros((64, 1), dtype=nl.float32)
            for i in nl.sequential_range(4):
                best = nl.max(nl.load(x[i]), axis=1)
                if i == 0:
                    running[:, 0] = nl.copy(best)
                    current = best
                else:
                    running[:, 0] = nl.maximum(nl.copy(running[:, 0]), best)
                    current = running[:, 0]
                nl.store(out[i], value=nl.add(current, 0.0))
            return out

        x = draw(4, 64, 8)
        want = np.maximum.accumulate(x.max(axis=2, keepdims=True), axis=0)
        np.testing.assert_array_equal(kernel(x), want)

    def test_it_is_told_and_refused_by_the_letter(self):
        loop = "for i in nl.affine_range(4):\n    "
        other = "u = nl.exp(t)\n"
        both = loop + "if i == 0:\n        v = t\n    else:\n        v = u\n    "
        use = "nl.store(out[:, nl.ds(i * 128, 128)], value=v[:, nl.ds(i * 128, 128)])\n"
        told = compile_body(OUT + other + both + use + END)
        self.assertIn("'v' is what the second side bound, in all trips", told["warnings"][0])
        self.assertEqual(compile_body(OUT + other + both + use + END, strict="2.24")["code"], "SCOPE_LOOP_DEP")
        for one in (
            "v = t\n    if i == 0:\n        v = u\n    ",
            "if i == 0:\n        v = nl.exp(t)\n    else:\n" "        v = nl.exp(u)\n    ",
        ):
            self.assertEqual(compile_body(OUT + other + loop + one + use + END)["code"], "SCOPE_LOOP_DEP", one)


class Loops(unittest.TestCase):
    def test_a_return_at_the_end_of_a_body_comes_after_all_trips(self):
        """As the documents' prof-kernel.py has it; rows of the last trip that do not exist are masked."""

        @nki.jit
        def kernel(x):
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            rows, columns = x.shape
            for p in nl.affine_range(-(-rows // 128)):
                i_p = p * 128 + nl.arange(128)[:, None]
                i_f = nl.arange(columns)[None, :]
                tile = nl.load(x[i_p, i_f], mask=i_p < rows)
                nl.store(out[i_p, i_f], value=nl.negative(tile), mask=i_p < rows)
                return out

        x = draw(250, 16)
        np.testing.assert_array_equal(kernel(x), -x)

    def test_such_a_return_of_helpers_and_of_loops_that_unroll(self):
        head = "def put(out, x, step):\n    total = 0\n    for i in {}(2):\n        total += step\n"
        body = "        nl.store(out[:, nl.ds(i * 128, 128)], nl.load(x[0:128, nl.ds(i * 128, 128)]))\n"
        body += "        return total\n"
        use = "n = put(out, x, 64)\nnl.store(out[:, 256:256 + n], nl.load(x[0:128, 256:256 + n]))\nreturn out\n"
        told = compile_body(OUT + head.format("nl.sequential_range") + body + "put(out, x, 64)\nreturn out\n")
        self.assertTrue(told["ok"], told.get("message"))
        self.assertTrue(any("all 2 trips run, then the function returns" in w for w in told["warnings"]), told)
        unrolled = compile_body(OUT + head.format("nl.static_range") + body + use)
        self.assertTrue(unrolled["ok"], unrolled.get("message"))
        self.assertEqual(unrolled["warnings"], [])
        nested = "for i in nl.affine_range(2):\n    for j in nl.affine_range(2):\n        return out\n"
        self.assertEqual(compile_body(OUT + nested)["code"], "CONTROL_FLOW")

    def test_bounds_that_move_together_are_counted(self):
        """A window that an outer loop shifts: the trips are known, only where they start moves."""
        for inner in ("nl.affine_range(i, i + 3)", "nl.sequential_range(i, i + 3)", "range(i, i + 3)"):
            for outer in ("nl.affine_range(4)", "nl.sequential_range(4)"):
                body = (
                    "out = nl.ndarray((128, 4), dtype=nl.float32, buffer=nl.shared_hbm)\n"
                    f"t = nl.load(x[0:128, :])\nfor i in {outer}:\n    s = nl.zeros((128, 1), dtype=nl.float32)\n"
                    f"    for j in {inner}:\n        s[...] += t[:, j:j + 1]\n    nl.store(out[:, i:i + 1], value=s)\n"
                    "return out"
                )
                self.assertTrue(compile_body(body)["ok"], compile_body(body).get("message"))

    def test_they_give_the_window(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray((64, 4), dtype=nl.float32, buffer=nl.shared_hbm)
            t = nl.load(x)
            for i in nl.affine_range(4):
                s = nl.zeros((64, 1), dtype=nl.float32)
                for j in nl.sequential_range(i, i + 6, 2):
                    s[...] += t[:, j : j + 1]
                nl.store(out[:, i : i + 1], value=s)
            return out

        x = np.round(draw(64, 16) * 8)
        np.testing.assert_array_equal(kernel(x), np.stack([x[:, i : i + 6 : 2].sum(1) for i in range(4)], axis=1))

    def test_others_are_refused_by_the_letter(self):
        """Where the trips differ the default is to take it, with advice; steps that go down are refused."""
        for bounds, loose in (("i", True), ("0, i", True), ("i, 8", True), ("i, 2 * i", True), ("i, 0, -1", False)):
            body = OUT + f"for i in nl.affine_range(4):\n    for j in nl.affine_range({bounds}):\n        pass\n" + END
            self.assertEqual(compile_body(body, strict="2.24")["code"], "CONTROL_FLOW", bounds)
            self.assertEqual(compile_body(body).get("code"), None if loose else "CONTROL_FLOW", bounds)


class Conditions(unittest.TestCase):
    def test_what_the_bounds_decide_is_a_truth_value(self):
        """Chunks of 128 columns divide 512: the last one is as long as the others, in each of these ways to say so."""
        for size in (
            "min(128, 512 - i * 128)",
            "128 if (i + 1) * 128 <= 512 else 512 - i * 128",
            "128 if i * 128 < 512 and i >= 0 else 0",
        ):
            body = (
                "out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\nf = nl.arange(128)[None, :]\n"
                f"for i in nl.affine_range(4):\n    n = {size}\n"
                "    t = nl.load(x[nl.arange(128)[:, None], i * 128 + f], mask=(f < n))\n"
                "    nl.store(out[nl.arange(128)[:, None], i * 128 + f], value=t, mask=(f < n))\nreturn out"
            )
            result = compile_body(body)
            self.assertTrue(result["ok"], result.get("message"))

    def test_what_trips_decide_stays_refused(self):
        for size in ("min(128, 500 - i * 128)", "128 if (i + 1) * 128 <= 500 else 4", "128 if i > 0 and i < 4 else 0"):
            body = f"for i in nl.affine_range(4):\n    n = {size}"
            self.assertEqual(compile_body(body)["code"], "CONTROL_FLOW", size)


class Views(unittest.TestCase):
    def test_a_block_of_hbm_is_reshaped(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
            for b in nl.affine_range(x.shape[0]):
                for h in nl.affine_range(x.shape[1]):
                    t = nl.load(x[b].reshape((x.shape[1], 48, 2))[h])
                    nl.store(out[b, h].reshape((48, 2)), value=t * 2.0)
            return out

        x = draw(3, 2, 8, 12)
        np.testing.assert_array_equal(kernel(x), 2 * x)

    def test_a_block_on_chip_is_reshaped_behind_its_partitions(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
            t = nl.ndarray((2, nl.par_dim(64), 4, 6), dtype=nl.float32)
            for b in nl.affine_range(2):
                t[b] = nl.load(x[b])
                flat = t[b].reshape((64, 24))
                nl.store(out[b].reshape((64, 24)), value=flat + 1.0)
            return out

        x = draw(2, 64, 4, 6)
        np.testing.assert_array_equal(kernel(x), x + np.float32(1))

    def test_parts_are_reshaped_where_their_axes_split_or_join(self):
        """Against numpy, for parts of tensors in HBM and of tiles."""

        @nki.jit
        def kernel(x, y):
            rows = nl.ndarray((64, 1024), dtype=nl.float32, buffer=nl.shared_hbm)
            columns = nl.ndarray((64, 4, 64), dtype=nl.float32, buffer=nl.shared_hbm)
            middle = nl.ndarray((64, 8, 4), dtype=nl.float32, buffer=nl.shared_hbm)
            again = nl.ndarray((64, 64), dtype=nl.float32, buffer=nl.shared_hbm)
            for i in nl.affine_range(2):
                part = x[i * 64 : (i + 1) * 64].reshape((32, 1024))
                nl.store(rows[i * 32 : (i + 1) * 32], value=nl.load(part))
            nl.store(columns, value=nl.load(x[0:64, 256:512].reshape((64, 4, 64))))
            t = nl.load(y)
            nl.store(middle, value=nl.exp(t[:, 1, :].reshape((64, 8, 4))))
            nl.store(again, value=t[:, 0:2, :].reshape((64, 2, 32)).reshape((64, 64)))
            return rows, columns, middle, again

        x, y = draw(128, 512), draw(64, 3, 32)
        rows, columns, middle, again = kernel(x, y)
        np.testing.assert_array_equal(rows, x.reshape(64, 1024))
        np.testing.assert_array_equal(columns, x[:64, 256:].reshape(64, 4, 64))
        np.testing.assert_allclose(middle, np.exp(y[:, 1]).reshape(64, 8, 4), rtol=1e-6)
        np.testing.assert_array_equal(again, y[:, :2].reshape(64, 64))

    def test_other_parts_stay_refused(self):
        for view in ("x[0:64, 0:256].reshape((32, 512))", "x[:, 0:256].reshape((512, 128))", "x[0].reshape((100,))"):
            self.assertIn(compile_body(f"t = nl.load({view})")["code"], ("RANK_LAYOUT", "SHAPE_BROADCAST"))

    def test_block_tensors_of_nine_and_more_axes(self):
        """As generated kernels declare them; each block has its own values."""

        @nki.jit
        def kernel(x):
            out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
            t = nl.zeros((1, 2, 1, 3, 1, 1, 2, nl.par_dim(64), 16), dtype=nl.float32, buffer=nl.sbuf)
            u = nl.ndarray((1, 1, 1, 1, 1, 1, 1, 2, nl.par_dim(64), 2, 8), dtype=nl.float32, buffer=nl.sbuf)
            p, f = nl.arange(64)[:, None], nl.arange(16)[None, :]
            for i in nl.affine_range(2):
                for j in nl.affine_range(3):
                    for k in nl.affine_range(2):
                        t[0, i, 0, j, 0, 0, k] = nl.load(x[i, j, k])
            for k in nl.affine_range(2):
                u[0, 0, 0, 0, 0, 0, 0, k] = nl.load(x[0, 0, k].reshape((64, 2, 8)))
            for i in nl.affine_range(2):
                for j in nl.affine_range(3):
                    for k in nl.affine_range(2):
                        nl.store(
                            out[i, j, k],
                            value=t[0, i, 0, j, 0, 0, k, p, f] + u[0, 0, 0, 0, 0, 0, 0, k].reshape((64, 16)),
                        )
            return out

        x = draw(2, 3, 2, 64, 16)
        np.testing.assert_array_equal(kernel(x), x + x[0, 0])

    def test_their_block_indices_stay_inside(self):
        make = "t = nl.zeros((1, 2, 1, 3, 1, 1, 2, nl.par_dim(128), 512), dtype=nl.float32)\n"
        for index in ("1, 0, 0, 0, 0, 0, 0", "0, 0, 0, 3, 0, 0, 0", "0, 1, 0, 2, 0, 0, 2"):
            result = compile_body(OUT + make + f"u = t[{index}]\n")
            self.assertEqual((result["code"], result["line"]), ("OOB", 12), result["message"])
        loop = "for i in nl.affine_range(4):\n    t[0, 0, 0, i, 0, 0, 0] = 1.0\n"
        self.assertEqual(compile_body(OUT + make + loop)["code"], "OOB")
        result = compile_body("t = nl.ndarray((1,) * 7 + (64, 8), dtype=nl.float32, buffer=nl.hbm)")
        self.assertEqual(result["code"], "RANK_LAYOUT", result["message"])

    def test_a_tile_of_one_axis_may_be_made_and_not_used(self):
        make = "unused = nl.ndarray((512,), dtype=nl.float32, buffer=nl.sbuf)\n"
        self.assertTrue(compile_body(OUT + make + END)["ok"])
        for use in ("unused[0:64]", "unused[...] = 1.0", "nl.exp(unused)", "nisa.dma_copy(dst=unused, src=x[0])"):
            result = compile_body(OUT + make + use)
            self.assertEqual((result["code"], result["line"]), ("RANK_LAYOUT", 12), use)
            self.assertIn("made at line 11", result["message"])


class Division(unittest.TestCase):
    def test_integers_divide_as_numpys_do(self):
        """The vendor's resize kernel computes floor(i / 38) of an int32 tile: 37 gives 0."""

        @nki.jit
        def kernel():
            rows = nl.ndarray((128, 8), dtype=nl.int32, buffer=nl.shared_hbm)
            true = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.shared_hbm)
            i = nisa.iota(nl.arange(128)[:, None] * 8 + nl.arange(8)[None, :], dtype=nl.int32)
            nl.store(rows, nl.floor(i / 38, dtype=nl.int32))
            nl.store(true, nl.divide(i, nl.add(i, 1)))
            return rows, true

        i = np.arange(1024, dtype=np.int32).reshape(128, 8)
        rows, true = kernel()
        np.testing.assert_array_equal(rows, np.floor(i / 38).astype(np.int32))
        np.testing.assert_array_equal(true, (i / (i + 1)).astype(np.float32))

    def test_a_dtype_that_is_asked_for_stays(self):
        body = "i = nisa.iota(nl.arange(128)[:, None] + nl.arange(512)[None, :], dtype=nl.int32)\n"
        self.assertTrue(
            compile_body(OUT + body + "assert nl.divide(i, 2, dtype=nl.int32).dtype == nl.int32\n" + END)["ok"]
        )


class Memories(unittest.TestCase):
    def test_affine_select_reads_psum(self):
        @nki.jit
        def kernel(a, b):
            out = nl.ndarray((128, 256), dtype=nl.float32, buffer=nl.shared_hbm)
            i, j = nl.arange(128)[:, None], nl.arange(256)[None, :]
            scores = nisa.nc_matmul(nl.load(a), nl.load(b))
            nl.store(out, nisa.affine_select(pred=(i >= j), on_true_tile=scores, on_false_value=-9984.0))
            return out

        a, b = draw(64, 128), draw(64, 256)
        want = np.where(np.arange(128)[:, None] >= np.arange(256), a.T.astype(np.float64) @ b, -9984.0)
        np.testing.assert_allclose(kernel(a, b), want, rtol=1e-5, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
