"""Masks of nisa.nc_matmul and nl.matmul against numpy: lanes left out add nothing, elements left out keep what they
had."""

import unittest

import numpy as np

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

import kernels

F = np.float32


class Seeded(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(26)

    def draw(self, *shape):
        return self.rng.integers(-4, 5, shape).astype(F)  # sums are exact, whatever their order

    def size(self, lo, hi):
        return int(self.rng.integers(lo, hi + 1))


class Operands(Seeded):
    """tile[condition] as an operand: the documents' operand masking."""

    def test_each_operand_is_trimmed_by_its_own_condition(self):
        @nki.jit
        def kernel(a, b):
            plain = nl.ndarray((50, 200), dtype=nl.float32, buffer=nl.shared_hbm)
            turned = nl.ndarray((50, 200), dtype=nl.float32, buffer=nl.shared_hbm)
            p, m, n = nl.arange(128)[:, None], nl.arange(64)[None, :], nl.arange(256)[None, :]
            left, right = nl.load(a), nl.load(b)
            rows = nl.arange(64)[:, None]
            mine = nisa.nc_matmul(left[(p < 90) & (m < 50)], right[n < 200])
            nl.store(plain[rows, n], value=nl.copy(mine), mask=(rows < 50) & (n < 200))
            lanes = nl.arange(128)[None, :]
            theirs = nl.matmul(nl.copy(nl.transpose(left))[lanes < 90], right[(p < 90) & (n < 200)])
            nl.store(turned[rows, n], value=nl.copy(theirs), mask=(rows < 50) & (n < 200))
            return plain, turned

        a, b = self.draw(128, 64), self.draw(128, 256)
        want = a[:90, :50].T @ b[:90, :200]
        plain, turned = kernel(a, b)
        np.testing.assert_array_equal(plain, want)
        np.testing.assert_array_equal(turned, want)

    def test_what_is_left_out_is_not_written(self):
        @nki.jit
        def kernel(a, b):
            out = nl.ndarray((64, 256), dtype=nl.float32, buffer=nl.shared_hbm)
            acc = nl.zeros((64, 256), dtype=nl.float32, buffer=nl.psum)
            m, n = nl.arange(64)[None, :], nl.arange(256)[None, :]
            acc += nl.matmul(nl.load(a)[m < 32], nl.load(b)[n >= 128], transpose_x=True)
            nl.store(out, value=acc)
            return out

        a, b = self.draw(128, 64), self.draw(128, 256)
        want = np.zeros((64, 256), F)
        want[:32, 128:] = a[:, :32].T @ b[:, 128:]
        np.testing.assert_array_equal(kernel(a, b), want)

    def test_nothing_else_takes_one(self):
        head = "t = nl.load(x[0:128, :])\nf = nl.arange(512)[None, :]\n"
        for use in ("nl.exp(t[f < 9])", "nl.load(t[f < 9])", "t[f < 9].shape", "nl.add(t, t[f < 9])"):
            told = kernels.compile_body(head + f"u = {use}\n")
            self.assertEqual(told["code"], "INDEXING", use)
            self.assertIn("operands of matmuls alone are masked so", told["message"])
        both = kernels.compile_body(head + "p = nl.arange(128)[:, None]\nu = nisa.nc_matmul(t[:, 0:128], t[p < f])\n")
        self.assertIn("not over one of its axes", both["message"])


class Semantics(Seeded):
    def one(self, k, m, n, conditions, a, b, base=None):
        """One accumulation under conditions(i_k, i_m, i_n) onto a tile that holds `base`."""

        @nki.jit
        def kernel(a, b, base):
            out = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.shared_hbm)
            p, fm, fn, pm = nl.arange(k)[:, None], nl.arange(m)[None, :], nl.arange(n)[None, :], nl.arange(m)[:, None]
            left, right = nl.load(a), nl.load(b)
            acc = nl.ndarray((nl.par_dim(m), n), dtype=nl.float32, buffer=nl.psum)
            acc[pm, fn] = nl.load(base)
            acc[pm, fn] += nisa.nc_matmul(left[p, fm], right[p, fn], mask=conditions(p, fm, fn))
            nl.store(out, value=acc)
            return out

        return nki.simulate_kernel(kernel, a, b, base)

    def test_random_boxes_with_nan_in_what_is_left_out(self):
        for _ in range(30):
            n, m = self.size(200, 512), self.size(2, 100)
            k = self.size(101, 128)  # three sizes that differ: the extent names the axis
            (k0, k1), (m0, m1), (n0, n1) = (sorted((self.size(0, s), self.size(0, s))) for s in (k, m, n))
            a, b, base = self.draw(k, m), self.draw(k, n), self.draw(m, n)
            want = base.copy()
            if k1 > k0:
                want[m0:m1, n0:n1] += a[k0:k1, m0:m1].T @ b[k0:k1, n0:n1]
            for side, (lo, hi) in ((a, (m0, m1)), (b, (n0, n1))):
                kept = np.zeros(side.shape, bool)
                kept[k0:k1, lo:hi] = True
                side[~kept] = np.nan
            got = self.one(
                k,
                m,
                n,
                lambda p, fm, fn: (p >= k0) & (p < k1) & (fm >= m0) & (fm < m1) & (fn >= n0) & (fn < n1),
                a,
                b,
                base,
            )
            with self.subTest(k=(k, k0, k1), m=(m, m0, m1), n=(n, n0, n1)):
                self.assertTrue(np.array_equal(got, want))

    def test_holes_in_every_axis(self):
        k, m, n = 100, 60, 300
        a, b, base = self.draw(k, m), self.draw(k, n), self.draw(m, n)
        lanes, rows, columns = (
            np.delete(np.arange(s), drop) for s, drop in ((k, [0, 7, 50]), (m, [59]), (n, [3, 200]))
        )
        want = base.copy()
        want[np.ix_(rows, columns)] += a[np.ix_(lanes, rows)].T @ b[np.ix_(lanes, columns)]
        a[[0, 7, 50]] = np.nan
        got = self.one(
            k,
            m,
            n,
            lambda p, fm, fn: (p != 0) & (p != 7) & (p != 50) & (fm != 59) & (fn != 3) & (fn != 200),
            a,
            b,
            base,
        )
        self.assertTrue(np.array_equal(got, want))

    def test_rows_of_the_result_may_be_named_by_its_partition_axis(self):
        k, m, n = 100, 60, 60
        a, b, base = self.draw(k, m), self.draw(k, n), self.draw(m, n)
        want = base.copy()
        want[:20, :7] += a[:, :20].T @ b[:, :7]
        # m == n: the free axis is the result's
        got = self.one(k, m, n, lambda p, fm, fn: (nl.arange(m)[:, None] < 20) & (fn < 7), a, b, base)
        self.assertTrue(np.array_equal(got, want))

    def test_equal_sizes_are_told_apart_by_the_masks_of_loads(self):
        @nki.jit
        def kernel(a, b):
            (k, m), n = a.shape, b.shape[1]
            out = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.shared_hbm)
            p, f = nl.arange(128)[:, None], nl.arange(128)[None, :]
            acc = nl.zeros((nl.par_dim(128), 128), dtype=nl.float32, buffer=nl.psum)
            for s in nl.affine_range(-(-k // 128)):
                inside, used, wide = s * 128 + p < k, f < m, f < n
                left = nl.ndarray((nl.par_dim(128), 128), dtype=a.dtype)
                left[p, f] = nl.load(a[s * 128 + p, f], mask=inside & used)
                right = nl.load(b[s * 128 + p, f], mask=inside & wide)
                acc[p, f] += nisa.nc_matmul(left[p, f], right, mask=inside & used & wide)
            nl.store(out[p, f], value=acc[p, f], mask=(p < m) & (f < n))
            return out

        a, b = self.draw(300, 70), self.draw(300, 90)
        self.assertTrue(np.array_equal(nki.simulate_kernel(kernel, a, b), a.T @ b))

    def test_a_condition_on_loop_variables_skips_the_whole(self):
        @nki.jit
        def kernel(a, b):
            out = nl.ndarray((64, 200), dtype=nl.float32, buffer=nl.shared_hbm)
            acc = nl.zeros((nl.par_dim(64), 200), dtype=nl.float32, buffer=nl.psum)
            left, right, f = nl.load(a), nl.load(b), nl.arange(200)[None, :]
            for i in nl.affine_range(4):
                acc += nisa.nc_matmul(left, right, mask=(i > 0) & (f < 50 * i))
            nl.store(out, value=acc)
            return out

        a, b = self.draw(32, 64), self.draw(32, 200)
        want = (a.T @ b) * np.repeat([3, 2, 1, 0], 50).astype(F)
        self.assertTrue(np.array_equal(nki.simulate_kernel(kernel, a, b), want))


class Tiled(Seeded):
    """Every dimension ragged; garbage in the tails of the tiles."""

    def run_all(self, kernel, transposed=True):
        for _ in range(4):
            k, m, n = self.size(129, 300), self.size(129, 300), self.size(513, 1100)
            a, b = self.draw(k, m), self.draw(k, n)
            with self.subTest(k=k, m=m, n=n):
                self.assertTrue(
                    np.array_equal(nki.simulate_kernel(kernel, a if transposed else a.T.copy(), b), a.T @ b)
                )

    def test_nc_matmul(self):
        @nki.jit
        def kernel(a, b):
            (k, m), n = a.shape, b.shape[1]
            out = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.shared_hbm)
            p, fm, fn = nl.arange(128)[:, None], nl.arange(128)[None, :], nl.arange(512)[None, :]
            for i in nl.affine_range(-(-m // 128)):
                for j in nl.affine_range(-(-n // 512)):
                    acc = nl.zeros((nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.psum)
                    for s in nl.affine_range(-(-k // 128)):
                        lanes, rows, columns = s * 128 + p < k, i * 128 + fm < m, j * 512 + fn < n
                        left = nl.load(a[s * 128 + p, i * 128 + fm], mask=lanes & rows)
                        right = nl.load(b[s * 128 + p, j * 512 + fn], mask=lanes & columns)
                        acc += nisa.nc_matmul(left, right, mask=lanes & rows & columns)
                    nl.store(out[i * 128 + p, j * 512 + fn], value=acc, mask=(i * 128 + p < m) & (j * 512 + fn < n))
            return out

        self.run_all(kernel)

    def test_matmul_of_an_operand_that_is_not_transposed(self):
        @nki.jit
        def kernel(a, b):
            (m, k), n = a.shape, b.shape[1]
            out = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.shared_hbm)
            p, fk, fn = nl.arange(128)[:, None], nl.arange(128)[None, :], nl.arange(512)[None, :]
            for i in nl.affine_range(-(-m // 128)):
                for j in nl.affine_range(-(-n // 512)):
                    acc = nl.zeros((nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.psum)
                    for s in nl.affine_range(-(-k // 128)):
                        rows, lanes, columns = i * 128 + p < m, s * 128 + fk < k, j * 512 + fn < n
                        left = nl.load(a[i * 128 + p, s * 128 + fk], mask=rows & lanes)
                        right = nl.load(b[s * 128 + p, j * 512 + fn], mask=(s * 128 + p < k) & columns)
                        acc += nl.matmul(left, right, mask=rows & lanes & columns)
                    nl.store(out[i * 128 + p, j * 512 + fn], value=acc, mask=(i * 128 + p < m) & (j * 512 + fn < n))
            return out

        self.run_all(kernel, transposed=False)

    def test_an_accumulator_in_sbuf_takes_the_elements_that_were_written(self):
        @nki.jit
        def kernel(a, b):
            out = nl.ndarray((64, 300), dtype=nl.float32, buffer=nl.shared_hbm)
            total, f = nl.zeros((nl.par_dim(64), 300), dtype=nl.float32), nl.arange(300)[None, :]
            left, right = nl.load(a), nl.load(b)
            for i in nl.affine_range(3):
                total += nisa.nc_matmul(left, right, mask=f < 100 * (i + 1))
            nl.store(out, value=total)
            return out

        a, b = self.draw(32, 64), self.draw(32, 300)
        self.assertTrue(
            np.array_equal(nki.simulate_kernel(kernel, a, b), (a.T @ b) * np.repeat([3, 2, 1], 100).astype(F))
        )


class Refusals(unittest.TestCase):
    TILES = (
        "out = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.shared_hbm)\nt = nl.load(x[0:128, 0:128])\n"
        "p, f = nl.arange(128)[:, None], nl.arange(128)[None, :]\n"
    )

    def refused(self, mask, *words):
        result = kernels.compile_body(
            self.TILES + f"r = nisa.nc_matmul(t, t, mask={mask})\nnl.store(out, value=r)\nreturn out\n"
        )
        self.assertFalse(result["ok"])
        self.assertEqual(result["code"], "INDEXING")
        for word in words:
            self.assertIn(word, result["message"])

    def test_a_condition_that_mixes_axes(self):
        self.refused("(p + f < 100)", "a condition of its mask mixes axes", "on one of the axes K, M and N")

    def test_a_size_that_nothing_has(self):
        self.refused(
            "(nl.arange(64)[None, :] < 3)",
            "over 64 places of the free axis",
            "128 for N (free axis of moving) or 128 for M",
        )

    def test_an_axis_that_could_be_two(self):
        self.refused(
            "(p < 100)", "could mean two axes", "K (contraction) and M (free axis of stationary) both have 128 places"
        )


if __name__ == "__main__":
    unittest.main()
