"""Kernels run by the engine, against numpy: how tiles are reached, kept and overwritten, and faults of a run."""

import unittest

import numpy as np

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import neuronxcc.nki.typing as nt

from against_numpy import RNG, AgainstNumpy, draw, run


class Memory(AgainstNumpy):
    def test_indirect_rows_are_gathered(self):
        @nki.jit
        def kernel(table, index):
            out = nl.ndarray((128, 24), dtype=table.dtype, buffer=nl.shared_hbm)
            rows = nl.load(index)
            p, f = nl.arange(128)[:, None], nl.arange(24)[None, :]
            nl.store(out, value=nl.load(table[rows[p, 0], f]))
            return out

        table, index = draw(500, 24), RNG.integers(0, 500, (128, 1), dtype=np.int32)
        self.close(run(kernel, table, index), table[index[:, 0]], 0)

    def test_strided_windows_and_reversed_rows(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray((64, 10), dtype=x.dtype, buffer=nl.shared_hbm)
            t = nl.load(x)
            p, o, k = nl.arange(64)[:, None, None], nl.arange(10)[None, :, None], nl.arange(3)[None, None, :]
            windows = t[p, 2 * o + k]
            reverse = nl.max(windows, axis=2)
            q, f = nl.arange(64)[:, None], nl.arange(10)[None, :]
            nl.store(out[q, 9 - f], value=reverse)
            return out

        x = draw(64, 21)
        want = np.stack([x[:, 2 * o : 2 * o + 3].max(1) for o in range(10)], 1)[:, ::-1]
        self.close(run(kernel, x), want, 0)

    def test_reshape_dtype_views_and_bfloat16_rounding(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray((64, 32), dtype=nl.float32, buffer=nl.shared_hbm)
            t = nl.load(x.reshape((64, 32)))
            nl.store(out, value=nl.copy(t, dtype=nl.bfloat16))
            return out

        x = draw(2, 32, 32)
        bits = x.reshape(64, 32).view(np.uint32)
        want = (((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) << 16).view(np.float32)
        self.close(run(kernel, x), want, 0)

    def test_constants_helpers_closures_and_sub_kernels(self):
        scale = 3.0

        def helper(tile, k):
            if k == 0:
                return tile
            for _ in range(k):
                tile[...] = tile + 1.0
            return tile

        @nki.jit(mode="trace")
        def sub(tile):
            return nl.multiply(tile, scale)

        @nki.jit
        def kernel(x):
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            eye = nl.load(nl.shared_constant(np.eye(64), dtype=nl.float32))
            t: nt.tensor[64, 64] = nl.load(x)
            t = helper(sub(t), 2)
            nl.store(out, value=nl.matmul(eye, t))
            return out

        x = draw(64, 64)
        self.close(run(kernel, x), x * 3 + 2)

    def test_outputs_as_arguments_in_drop_in_use(self):
        @nki.baremetal
        def kernel(x, out):
            nl.store(out, value=nl.load(x) * 2.0)

        x, out = draw(64, 8), np.zeros((64, 8), np.float32)
        self.assertIsNone(kernel(x, out))
        self.close(out, x * 2, 0)

    def test_a_masked_write_leaves_the_rest_of_the_tile(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray((64, 32), dtype=x.dtype, buffer=nl.shared_hbm)
            t = nl.full((64, 32), -1.0, dtype=x.dtype)
            p, f = nl.mgrid[0:64, 0:32]
            t[p, f] = nl.load(x[p, f], mask=(f < 20) & (p < 50))
            nl.store(out[p, f], value=t)
            return out

        x = draw(50, 20)
        want = np.full((64, 32), -1, np.float32)
        want[:50, :20] = x
        self.close(run(kernel, x), want, 0)

    def test_overlapping_reads_see_the_tile_as_it_was(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray((4, 64, 8), dtype=x.dtype, buffer=nl.shared_hbm)
            a, b, c, d = nl.load(x), nl.load(x), nl.load(x), nl.load(x[:, 0:8])
            a[:, 1:8] = a[:, 0:7]
            b[:, 1:8] = nl.add(b[:, 0:7], 1.0)
            c[:, 1:8] += c[:, 0:7]
            p, f = nl.mgrid[0:64, 0:8]
            d[p, f] = d[p, 7 - f] * 2.0
            for k, tile in enumerate((a, b, c, d)):
                nl.store(out[k], value=tile)
            return out

        x = draw(64, 8)
        a, b, c = x.copy(), x.copy(), x.copy()
        a[:, 1:], b[:, 1:], c[:, 1:] = x[:, :-1], x[:, :-1] + 1, x[:, 1:] + x[:, :-1]
        self.close(run(kernel, x), np.stack([a, b, c, x[:, ::-1] * 2]), 0)

    def test_a_tile_that_was_filled_after_a_masked_load_is_copied_whole(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray((64, 8), dtype=x.dtype, buffer=nl.shared_hbm)
            p, f = nl.mgrid[0:64, 0:8]
            y = nl.load(x[p, f], mask=(f < 4))
            y[:, 4:8] = 5.0
            t = nl.zeros((64, 8), dtype=x.dtype)
            t[...] = y
            nl.store(out, value=t)
            return out

        x = draw(64, 8)
        want = x.copy()
        want[:, 4:] = 5
        self.close(run(kernel, x), want, 0)

    def test_a_value_that_is_used_again_is_not_forwarded_away(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray((64, 8), dtype=x.dtype, buffer=nl.shared_hbm)
            t = nl.ndarray((64, 8), dtype=x.dtype)
            y = nl.load(x) + 1.0
            t[...] = y
            t += y
            nl.store(out, value=t * y)
            return out

        x = draw(64, 8)
        self.close(run(kernel, x), 2 * (x + 1) ** 2)


class Faults(unittest.TestCase):
    def test_a_fault_of_the_run_is_of_the_builtin_kind_itself(self):
        """As numpy's: files that run on arrays compare the class."""

        @nki.jit
        def kernel(x, rows):
            out = nl.ndarray((64, 8), dtype=nl.float32, buffer=nl.shared_hbm)
            index = nl.load(rows)
            t = nl.load(x[index[nl.arange(64)[:, None], 0], nl.arange(8)[None, :]])
            nl.store(out, value=t)
            return out

        x, rows = np.zeros((64, 8), dtype=np.float32), np.full((64, 1), 64, dtype=np.int32)
        with self.assertRaises(IndexError) as raised:
            kernel(x, rows)
        self.assertIs(type(raised.exception), IndexError)
        self.assertEqual(raised.exception.code, "OOB")
        self.assertEqual(str(raised.exception), "index 512 is out of bounds for axis 0 with size 512")
        (note,) = raised.exception.__notes__
        self.assertRegex(note, r"tensor 'arg0' on dimension 0: index 64 .*\(test_run_memory\.py:\d+\)")

    def test_an_index_of_a_later_axis_is_its_own(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray((64, 8), dtype=nl.float32, buffer=nl.shared_hbm)
            for k in nl.sequential_range(9):
                if (k // 2) * 3 < 12:
                    nl.store(out[:, nl.ds((k // 2) * 3, 1)], value=nl.load(x)[:, 0:1])
            return out

        with self.assertRaises(IndexError) as raised:
            kernel(np.zeros((64, 8), dtype=np.float32))
        self.assertEqual(str(raised.exception), "index 9 is out of bounds for axis 1 with size 8")


if __name__ == "__main__":
    unittest.main()
