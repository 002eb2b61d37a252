"""What the documents of SDK 2.24 forbid and kernels on chips did: a warning by default, the error under strict; and
what compilers were seen to refuse."""

import unittest

import numpy as np

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

from against_numpy import AgainstNumpy, draw
from kernels import compile_body

OUT = "out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\nt = nl.load(x[0:128, :])\n"
END = "nl.store(out[0:t.shape[0], 0:t.shape[1]], value=t)\nreturn out\n"

BEYOND = {
    "a column against a tile": ("t = nisa.tensor_tensor(t, t[:, 0:1], op=np.add)", "SHAPE_BROADCAST"),
    "two repeated operands": (
        "u = nisa.tensor_tensor(t[:, 0:8].reshape((128, 8, 1)), t[:, 8:72].reshape((128, 1, 64)), op=np.add)\n"
        "t = u.reshape((128, 512))",
        "SHAPE_BROADCAST",
    ),
    "a reduction of axes that are not last": (
        "t = nisa.tensor_reduce(np.max, t.reshape((128, 8, 64)), axis=1)",
        "UNSUPPORTED_OP",
    ),
    "a large transpose on the vector engine": (
        "t = nisa.nc_transpose(t[:, 0:128], engine=nisa.vector_engine)",
        "UNSUPPORTED_OP",
    ),
    "a copy between a row and a column": (
        "u = nl.ndarray((128, 1), dtype=nl.float32)\nnisa.dma_copy(dst=u, src=x.reshape((131072,))[0:128])",
        "SHAPE_BROADCAST",
    ),
    "a trip count of an outer loop": (
        "for i in nl.affine_range(4):\n    for j in nl.affine_range(i):\n"
        "        t[:, nl.ds(i * 128 + j * 32, 32)] = nl.exp(t[:, nl.ds(j * 32, 32)])",
        "CONTROL_FLOW",
    ),
    "a size that was divided": ("t = t.reshape((128, 512 / 8, 8)).reshape((128, 512))", "RANK_LAYOUT"),
}


class BeyondDocuments(AgainstNumpy):
    def test_each_is_a_warning_and_under_strict_an_error(self):
        for name, (body, code) in BEYOND.items():
            with self.subTest(name):
                loose = compile_body(OUT + body + "\n" + END)
                self.assertTrue(loose["ok"], loose.get("message"))
                self.assertIn("; documents of SDK 2.24: ", loose["warnings"][0])
                tight = compile_body(OUT + body + "\n" + END, strict="2.24")
                self.assertEqual(tight.get("code"), code, tight)
                self.assertIn("  fix: ", tight["message"])

    def test_a_result_in_plain_hbm(self):
        body = (
            "h = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.hbm)\n"
            "nl.store(h, value=nl.load(x[0:128, :]))\nreturn h"
        )
        self.assertIn("nl.hbm", compile_body(body)["warnings"][0])
        self.assertEqual(compile_body(body, strict="2.24")["code"], "OUTPUT_CONTRACT")

    def test_loops_whose_trips_an_outer_loop_counts(self):
        @nki.jit
        def kernel(x):
            low = nl.ndarray((5, 128, 8), dtype=nl.float32, buffer=nl.shared_hbm)
            high = nl.ndarray((5, 128, 8), dtype=nl.float32, buffer=nl.shared_hbm)
            for i in nl.affine_range(5):
                total = nl.zeros((128, 8), dtype=nl.float32)
                for j in nl.affine_range(i + 1):
                    total += nl.load(x[j])
                nl.store(low[i], value=total)
                rest = nl.zeros((128, 8), dtype=nl.float32)
                for j in nl.sequential_range(i, 5, 2):
                    rest += nl.load(x[j])
                nl.store(high[i], value=rest)
            return low, high

        x = draw(5, 128, 8)
        low, high = kernel(x)
        self.close(low, np.cumsum(x, axis=0))
        self.close(high, np.stack([x[i::2].sum(axis=0) for i in range(5)]))

    def test_such_loops_are_told_what_others_are(self):
        inner = "for i in nl.affine_range(4):\n    for j in nl.affine_range(i):\n        "
        told = compile_body(OUT + inner + "t[:, nl.ds(i * 128, 128)] = nl.exp(t[:, nl.ds(j * 128, 128)])\n" + END)
        self.assertEqual(told["code"], "SCOPE_LOOP_DEP", told)
        unrolled = inner.replace("nl.affine_range(i)", "nl.static_range(i)") + "t[:, 0:1] = 0.0\n"
        self.assertEqual(compile_body(OUT + unrolled + END)["code"], "CONTROL_FLOW")

    def test_numbers(self):
        @nki.jit
        def kernel(x):
            both = nl.ndarray((128, 8, 64), dtype=nl.float32, buffer=nl.shared_hbm)
            turned = nl.ndarray((96, 128), dtype=nl.float32, buffer=nl.shared_hbm)
            windows = nl.ndarray((128, 4, 16), dtype=nl.float32, buffer=nl.shared_hbm)
            t = nl.load(x)
            column, row = t[:, 0:8].reshape((128, 8, 1)), t[:, 8:72].reshape((128, 1, 64))
            nl.store(both, value=nisa.tensor_tensor(column, row, op=np.subtract))
            nl.store(turned, value=nisa.nc_transpose(t[:, 0:96], engine=nisa.vector_engine))
            five = t[:, 0:256].reshape((128, 4, 2, 16, 2))
            nl.store(windows, value=nisa.tensor_reduce(np.max, five, axis=(2, 4)))
            return both, turned, windows

        x = draw(128, 512)
        both, turned, windows = kernel(x)
        np.testing.assert_array_equal(both, x[:, 0:8, None] - x[:, None, 8:72])
        np.testing.assert_array_equal(turned, x[:, 0:96].T)
        np.testing.assert_array_equal(windows, x[:, 0:256].reshape(128, 4, 2, 16, 2).max(axis=(2, 4)))


P, F = "nl.arange(128)[:, None]", "nl.arange(512)[None, :]"
REFUSED = {
    "a row of HBM over partitions by DMA": (
        f"nisa.dma_copy(dst=t, src=x[{P} * 0, {F}])",
        "UNSUPPORTED_OP",
        "NCC_IBCG901",
    ),
    "a row on chip over partitions by DMA": (
        f"nisa.dma_copy(dst=t, src=t[{P} * 0, {F}])",
        "UNSUPPORTED_OP",
        "NCC_IBCG901",
    ),
    "a row by its shape": ("nisa.dma_copy(dst=t, src=x[0:1, :])", "UNSUPPORTED_OP", "broadcast_to"),
    "broadcast_to in HBM": ("t = nl.load(x[0:1, :].broadcast_to((128, 512)))", "WRONG_MEMORY", "sbuf or psum"),
    "a DMA transpose of float32 on chip": ("t = nisa.dma_transpose(t[:, 0:128])", "DTYPE", "NCC_ISFV902"),
    "ranks that leave an axis open": (
        "u = nl.add(t[0:64, 0:512].reshape((64, 8, 64)), t[0:64, 0:1])",
        "SHAPE_BROADCAST",
        "do not broadcast",
    ),
    "a partition axis that would meet a free one": (
        "u = nl.add(t[0:8, 0:512].reshape((8, 8, 64)), t[0:8, 0:64])",
        "SHAPE_BROADCAST",
        "its partition axis would meet axis 1",
    ),
    "a value of smaller rank": (
        "u = nl.ndarray((64, 64, 64), dtype=nl.float32)\nu[...] = t[0:64, 0:64]",
        "SHAPE_BROADCAST",
        "does not fit",
    ),
}


class Refused(AgainstNumpy):
    def test_what_compilers_refuse_and_what_means_two_things(self):
        for name, (body, code, words) in REFUSED.items():
            with self.subTest(name):
                result = compile_body(OUT + body + "\n" + END)
                self.assertEqual(result.get("code"), code, result)
                self.assertIn(words, result["message"])

    def test_dma_transposes_of_float32_from_hbm_run_with_advice(self):
        """A unit test of SDK 2.24 does it."""
        result = compile_body(OUT + "t = nisa.dma_transpose(x[0:128, 0:128])\n" + END)
        self.assertIn("2 bytes", result["warnings"][0])

    def test_a_slice_past_the_edge_is_told_where_it_stands_and_where_it_hurts(self):
        result = compile_body(OUT + "t = nl.load(x[200:328, :])\n" + END)
        self.assertIn("slice '200:328' of axis 0", result["warnings"][0])
        self.assertIn("clipped to 56", result["warnings"][0])
        result = compile_body(OUT + "nl.store(out, value=nl.load(x[200:328, :]))\nreturn out\n")
        self.assertEqual(result["code"], "SHAPE_BROADCAST")
        self.assertIn("clipped: slice '200:328' of axis 0", result["message"])


class Splits(AgainstNumpy):
    def test_a_grid_is_split_over_two_axes(self):
        @nki.jit
        def kernel(x):
            flat = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
            part = nl.ndarray((128, 20), dtype=nl.float32, buffer=nl.shared_hbm)
            again = nl.ndarray((128, 4, 16), dtype=nl.float32, buffer=nl.shared_hbm)
            p, f, g = nl.arange(128)[:, None], nl.arange(16)[None, :], nl.arange(20)[None, :] + 13
            for k in nl.affine_range(4):
                place = k * 16 + f
                nl.store(flat[p, place], value=nl.load(x[p, place // 16, place % 16]))
                nl.store(again[p, place // 16, place % 16], value=nl.load(x[p, k, f]))
            nl.store(part, value=nl.load(x)[p, g // 16, g % 16])
            return flat, part, again

        x = draw(128, 4, 16)
        flat, part, again = kernel(x)
        np.testing.assert_array_equal(flat, x.reshape(128, 64))
        np.testing.assert_array_equal(part, x.reshape(128, 64)[:, 13:33])
        np.testing.assert_array_equal(again, x)

    def test_a_split_may_be_moved_and_go_over_more_axes(self):
        @nki.jit
        def kernel(x, y):
            moved = nl.ndarray((128, 2, 32), dtype=nl.float32, buffer=nl.shared_hbm)
            back = nl.ndarray((128, 32), dtype=nl.float32, buffer=nl.shared_hbm)
            deep = nl.ndarray((128, 60), dtype=nl.float32, buffer=nl.shared_hbm)
            halves = nl.ndarray((128, 60), dtype=nl.float32, buffer=nl.shared_hbm)
            p, f, g = nl.arange(128)[:, None], nl.arange(32)[None, :], nl.arange(60)[None, :]
            for k in nl.affine_range(2):
                nl.store(moved[p, k, f], value=nl.load(x[p, k + 1 + f // 16, f % 16]))
            nl.store(back, value=nl.load(x[p, f // 16 - 1 + 3, f % 16]))
            nl.store(deep, value=nl.load(y[p, g // 20, (g // 5) % 4, g % 5]))
            nl.store(halves, value=nl.load(y[p, g // 5 // 4, g // 5 % 4, g % 5]))
            return moved, back, deep, halves

        x, y = draw(128, 4, 16), draw(128, 3, 4, 5)
        moved, back, deep, halves = kernel(x, y)
        places = np.arange(32)
        for k in range(2):
            np.testing.assert_array_equal(moved[:, k], x[:, k + 1 + places // 16, places % 16])
        np.testing.assert_array_equal(back, x[:, places // 16 + 2, places % 16])
        np.testing.assert_array_equal(deep, y.reshape(128, 60))
        np.testing.assert_array_equal(halves, y.reshape(128, 60))

    def test_a_moved_split_stays_within_its_tensor(self):
        body = "f = nl.arange(32)[None, :]\np = nl.arange(128)[:, None]\nt = nl.load(x[p, f // 16 + {}, f % 16])\n"
        params = [("x", (128, 4, 16), "float32")]
        self.assertIn("returns nothing", compile_body(body.format(2), params)["message"])
        self.assertEqual(compile_body(body.format(3), params)["code"], "OOB")

    def test_what_is_affine_after_all(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray((128, 16), dtype=nl.float32, buffer=nl.shared_hbm)
            p, f = nl.arange(128)[:, None], nl.arange(16)[None, :]
            nl.store(out, value=nl.load(x[p, f // 16, (f * 4) // 2 + f % 16 + (f * 8 + 3) % 8]))
            return out

        x = draw(128, 1, 64)
        np.testing.assert_array_equal(kernel(x), x[:, 0, 3:51:3])

    def test_other_splits_are_refused(self):
        grid = "f = nl.arange(64)[None, :]\np = nl.arange(128)[:, None]\n"
        for use in (
            "nl.load(x[p, f // 2])",
            "nl.load(x[p, f % 3 + 1])",
            "nl.load(x[p, f], mask=(f % 2 < 1))",
            "nl.load(x[p, f // 2 * 2])",
            "nl.load(x[p, f // 2 + f])",
            "nl.load(x[p, 3 - f // 2])",
            "nl.load(x[p, f // 2 // f])",
            "nl.load(x[p, f // 2 % 0])",
        ):
            self.assertEqual(compile_body(grid + f"t = {use}")["code"], "INDEXING", use)


class Places(AgainstNumpy):
    def test_equal_values_have_their_places_in_order(self):
        """As the hardware does it: of equal wanted values the i-th gets the i-th place, one that is not there all
        bits."""

        @nki.jit
        def kernel(x, v):
            out = nl.ndarray((128, 8), dtype=nl.uint32, buffer=nl.shared_hbm)
            nl.store(out, value=nisa.nc_find_index8(data=nl.load(x), vals=nl.load(v)))
            return out

        x = np.tile(np.float32([3, 9, 1, 9, 7, 0, 9, 2]), (128, 1))
        v = np.tile(np.float32([9, 7, 9, 9, 9, 0, 3, 4]), (128, 1))
        none = 0xFFFFFFFF
        np.testing.assert_array_equal(kernel(x, v)[5], [1, 4, 3, 6, none, 5, 0, none])


if __name__ == "__main__":
    unittest.main()
