"""Random shapes, masks, views and dtypes against numpy (seeded)."""

import unittest
import warnings

import numpy as np

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

F = np.float32
ROUNDING = {
    "float32": 0.0,
    "bfloat16": 2.0**-8,
    "float16": 2.0**-11,
    "tfloat32": 2.0**-11,
    "float8_e4m3": 2.0**-4,
    "float8_e5m2": 2.0**-3,
}
OPERATORS = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
}


def run(kernel, *args):
    return nki.simulate_kernel(kernel, *args)


class Properties(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(20)

    def draw(self, *shape):
        return self.rng.standard_normal(shape).astype(F)

    def size(self, lo, hi):
        return int(self.rng.integers(lo, hi + 1))

    def test_elementwise_chains_over_ragged_tiles(self):
        for _ in range(25):
            rows, columns, tile = self.size(1, 400), self.size(1, 90), self.size(1, 128)
            names = [str(n) for n in self.rng.choice(list(OPERATORS), 3)]

            @nki.jit
            def kernel(x, y):
                out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
                p, f = nl.arange(tile)[:, None], nl.arange(columns)[None, :]
                for i in nl.affine_range((rows + tile - 1) // tile):
                    inside = i * tile + p < rows
                    a = nl.load(x[i * tile + p, f], mask=inside)
                    b = nl.load(y[i * tile + p, f], mask=inside)
                    for name in names:
                        a = getattr(nl, name)(a, b, mask=inside)
                    nl.store(out[i * tile + p, f], value=a, mask=inside)
                return out

            x, y = self.draw(rows, columns), self.draw(rows, columns)
            want = x
            for name in names:
                want = OPERATORS[name](want, y)
            with self.subTest(shape=x.shape, tile=tile, names=names):
                self.assertTrue(np.array_equal(run(kernel, x, y), want))

    def test_masks_of_random_conditions(self):
        for _ in range(25):
            rows, columns = self.size(1, 128), self.size(1, 60)
            a, b, c, d, e = (int(v) for v in self.rng.integers(-3, 4, 5))
            limit, row0, column1 = self.size(-20, 60), self.size(0, rows), self.size(0, columns)

            @nki.jit
            def kernel(x):
                out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
                p, f = nl.mgrid[0:rows, 0:columns]
                t = nl.full((rows, columns), -5.0, dtype=x.dtype)
                t[p, f] = nl.load(x[p, f], mask=(a * p + b * f + c < limit) & (p >= row0) & (f < column1))
                u = nisa.affine_select(pred=(d * p + e * f >= c), on_true_tile=t, on_false_value=7.0)
                nl.store(out, value=u)
                return out

            x = self.draw(rows, columns)
            p, f = np.mgrid[0:rows, 0:columns]
            want = np.where((a * p + b * f + c < limit) & (p >= row0) & (f < column1), x, F(-5))
            want = np.where(d * p + e * f >= c, want, F(7))
            with self.subTest(rows=rows, columns=columns, coefficients=(a, b, c, d, e, limit, row0, column1)):
                self.assertTrue(np.array_equal(run(kernel, x), want))

    def test_masked_reductions_take_only_what_the_mask_keeps(self):
        for _ in range(20):
            rows, columns, kept = self.size(1, 128), self.size(2, 70), self.size(1, 70)
            kept = min(kept, columns)

            @nki.jit
            def kernel(x):
                out = nl.ndarray((3, rows, 1), dtype=x.dtype, buffer=nl.shared_hbm)
                p, f = nl.mgrid[0:rows, 0:columns]
                t = nl.load(x[p, f])
                nl.store(out[0], value=nl.max(t[p, f], axis=1, mask=(f < kept)))
                nl.store(out[1], value=nl.sum(t[p, f], axis=1, mask=(f < kept)))
                nl.store(out[2], value=nisa.tensor_reduce(np.min, t, axis=1, mask=(f >= columns - kept)))
                return out

            x = self.draw(rows, columns)
            want = np.stack([x[:, :kept].max(1), x[:, :kept].sum(1), x[:, columns - kept :].min(1)])[..., None]
            with self.subTest(shape=x.shape, kept=kept):
                np.testing.assert_allclose(run(kernel, x), want, rtol=1e-4, atol=1e-4)

    def test_reductions_over_random_axes(self):
        for _ in range(20):
            shape = (self.size(1, 64),) + tuple(self.size(1, 6) for _ in range(self.size(1, 4)))
            first = self.size(1, len(shape) - 1)
            axes = tuple(range(first, len(shape)))
            if self.rng.random() < 0.4:
                axes = (first,)
            keepdims = bool(self.rng.integers(2))

            @nki.jit
            def kernel(x):
                t = nl.sum(nl.load(x), axis=axes, keepdims=keepdims)
                out = nl.ndarray(t.shape, dtype=x.dtype, buffer=nl.shared_hbm)
                nl.store(out, value=t)
                return out

            x = self.draw(*shape)
            with self.subTest(shape=shape, axes=axes, keepdims=keepdims):
                got, want = run(kernel, x), x.sum(axis=axes, keepdims=keepdims)
                np.testing.assert_allclose(got.reshape(want.shape), want, rtol=1e-4, atol=1e-4)

    def test_matmul_of_random_sizes(self):
        for _ in range(20):
            k, m, n = self.size(1, 128), self.size(1, 128), self.size(1, 512)

            @nki.jit
            def kernel(a, b):
                out = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.shared_hbm)
                nl.store(out, value=nisa.nc_matmul(nl.load(a), nl.load(b)))
                return out

            a, b = self.draw(k, m), self.draw(k, n)
            with self.subTest(k=k, m=m, n=n):
                np.testing.assert_allclose(run(kernel, a, b), a.astype(np.float64).T @ b, rtol=1e-4, atol=1e-4)

    def test_views_index_as_numpy_does(self):
        for _ in range(30):
            rows, columns = self.size(4, 128), self.size(8, 80)
            r0, c0 = int(self.rng.choice([0, 0, 32, 64])), self.size(0, columns - 1)
            r0 = r0 if r0 < rows else 0
            step, count = self.size(1, 4), self.size(1, 20)
            count = min(count, (columns - 1 - c0) // step + 1)
            height = self.size(1, min(32, rows - r0))
            flip = bool(self.rng.integers(2))

            @nki.jit
            def kernel(x):
                out = nl.ndarray((2, height, count), dtype=x.dtype, buffer=nl.shared_hbm)
                t = nl.load(x)
                p, f = nl.arange(height)[:, None], nl.arange(count)[None, :]
                column = c0 + step * (count - 1 - f) if flip else c0 + step * f
                nl.store(out[0], value=t[r0 + p, column])
                nl.store(out[1], value=nl.copy(t[r0 : r0 + height, c0 : c0 + step * (count - 1) + 1 : step]))
                return out

            x = self.draw(rows, columns)
            plain = x[r0 : r0 + height, c0 : c0 + step * (count - 1) + 1 : step]
            with self.subTest(shape=x.shape, start=(r0, c0), step=step, flip=flip):
                got = run(kernel, x)
                self.assertTrue(np.array_equal(got[0], plain[:, ::-1] if flip else plain))
                self.assertTrue(np.array_equal(got[1], plain))

    def test_casts_round_to_the_type(self):
        for name, unit in ROUNDING.items():
            for _ in range(4):
                rows, columns = self.size(1, 128), self.size(1, 64)
                dtype = getattr(nl, name)

                @nki.jit
                def kernel(x):
                    out = nl.ndarray((2,) + x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
                    t = nl.load(x, dtype=dtype)
                    nl.store(out[0], value=t)
                    nl.store(out[1], value=nl.copy(nl.copy(t, dtype=nl.float32), dtype=dtype))
                    return out

                x = (np.sign(self.draw(rows, columns)) * self.rng.uniform(0.5, 60, (rows, columns))).astype(F)
                got = run(kernel, x)
                with self.subTest(dtype=name, shape=x.shape):
                    self.assertLessEqual(np.abs(got[0] / x - 1).max(), unit)
                    self.assertTrue(np.array_equal(got[0], got[1]))
                    if unit > 2.0**-11:
                        self.assertFalse(np.array_equal(got[0], x))

    def test_integer_arithmetic_is_exact_in_every_type(self):
        for name in ("uint8", "int8", "uint16", "int16", "int32"):
            for _ in range(4):
                rows, columns = self.size(1, 128), self.size(1, 40)
                info = np.iinfo(name)
                x = self.rng.integers(info.min // 4, info.max // 4, (rows, columns)).astype(name)
                y = self.rng.integers(info.min // 4, info.max // 4, (rows, columns)).astype(name)

                @nki.jit
                def kernel(x, y):
                    out = nl.ndarray((3,) + x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
                    a, b = nl.load(x), nl.load(y)
                    nl.store(out[0], value=a + b)
                    nl.store(out[1], value=nl.bitwise_xor(a, b))
                    nl.store(out[2], value=nl.maximum(a, b))
                    return out

                with self.subTest(dtype=name):
                    self.assertTrue(np.array_equal(run(kernel, x, y), np.stack([x + y, x ^ y, np.maximum(x, y)])))

    def test_mixed_types_promote_as_the_table_says(self):
        table = {
            ("float16", "bfloat16"): "float32",
            ("float16", "float32"): "float32",
            ("bfloat16", "int32"): "bfloat16",
            ("int8", "uint8"): "int16",
            ("int8", "uint16"): "int32",
            ("int32", "uint32"): "float32",
            ("float8_e4m3", "float8_e5m2"): "bfloat16",
            ("uint8", "uint16"): "uint16",
            ("float8_e4m3", "float16"): "float16",
        }
        for (left, right), want in table.items():
            seen = []

            @nki.jit
            def kernel(x):
                out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
                t = nl.load(x)
                a, b = nl.copy(t, dtype=getattr(nl, left)), nl.copy(t, dtype=getattr(nl, right))
                seen.append(
                    (
                        str(nl.add(a, b).dtype),
                        str(nl.multiply(b, a).dtype),
                        str(nisa.tensor_tensor(a, b, op=np.add).dtype),
                    )
                )
                nl.store(out, value=a + b)
                return out

            x = np.minimum(np.round(np.abs(self.draw(16, 8)) * 4), 4)  # exact in every type
            with self.subTest(left=left, right=right):
                self.assertTrue(np.array_equal(run(kernel, x), 2 * x))
                self.assertEqual(seen, [(want, want, want)])

    def test_scans_of_every_operand_order(self):
        functions = {
            "add": np.add,
            "subtract": np.subtract,
            "multiply": np.multiply,
            "maximum": np.maximum,
            "less": np.less,
            "greater_equal": np.greater_equal,
        }
        ran = 0
        for first in functions:
            for second in functions:
                for reverse0 in (False, True):
                    for reverse1 in (False, True):
                        if reverse1 and second == "subtract" and first not in ("add", "subtract", "multiply"):
                            continue  # refused

                        @nki.jit
                        def kernel(a, b):
                            out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
                            nl.store(
                                out,
                                value=nisa.tensor_tensor_scan(
                                    nl.load(a),
                                    nl.load(b),
                                    initial=0.25,
                                    op0=functions[first],
                                    op1=functions[second],
                                    reverse0=reverse0,
                                    reverse1=reverse1,
                                ),
                            )
                            return out

                        a, b = self.draw(4, 6), self.draw(4, 6)
                        state, want = np.full(4, 0.25, F), []
                        for j in range(6):
                            inner = functions[first](*((state, a[:, j]) if reverse0 else (a[:, j], state))).astype(F)
                            state = functions[second](*((b[:, j], inner) if reverse1 else (inner, b[:, j]))).astype(F)
                            want.append(state)
                        with self.subTest(ops=(first, second), reverse=(reverse0, reverse1)):
                            self.assertTrue(np.array_equal(run(kernel, a, b), np.stack(want, 1)))
                            ran += 1
        self.assertEqual(ran, 6 * 6 * 4 - 3 * 2)

    def test_free_and_partition_broadcast(self):
        for _ in range(20):
            rows, columns = self.size(1, 128), self.size(1, 50)
            left = (int(self.rng.choice([1, rows])), int(self.rng.choice([1, columns])))
            right = (rows, columns)

            @nki.jit
            def kernel(x, y):
                out = nl.ndarray((2, rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
                a, b = nl.load(x), nl.load(y)
                nl.store(out[0], value=nl.subtract(a, b))
                nl.store(out[1], value=nl.multiply(b, a))
                return out

            x, y = self.draw(*left), self.draw(*right)
            with self.subTest(left=left, right=right):
                self.assertTrue(np.array_equal(run(kernel, x, y), np.stack([x - y, y * x])))

    def test_indirect_rows_and_scattered_rows(self):
        for _ in range(12):
            table_rows, rows, columns = self.size(2, 300), self.size(1, 128), self.size(1, 30)
            index = self.rng.permutation(max(table_rows, rows))[:rows, None].astype(np.int32)
            table_rows = max(table_rows, rows)

            @nki.jit
            def kernel(table, index):
                out = nl.ndarray((2, table_rows, columns), dtype=table.dtype, buffer=nl.shared_hbm)
                where = nl.load(index)
                p, f = nl.arange(rows)[:, None], nl.arange(columns)[None, :]
                got = nl.load(table[where[p, 0], f])
                nl.store(out[0, where[p, 0], f], value=got)
                nl.store(out[1, p, f], value=got)
                return out

            table = self.draw(table_rows, columns)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # says what was never written, as it must
                got = run(kernel, table, index)
            with self.subTest(table=table.shape, rows=rows):
                self.assertTrue(np.array_equal(got[0, index[:, 0]], table[index[:, 0]]))
                self.assertTrue(np.array_equal(got[1, :rows], table[index[:, 0]]))
                rest = np.setdiff1d(np.arange(table_rows), index[:, 0])
                self.assertTrue(np.isnan(got[0, rest]).all())


if __name__ == "__main__":
    unittest.main()
