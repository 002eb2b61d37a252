"""The patterns of the public tutorials, written afresh at small sizes, against numpy."""

import unittest

import numpy as np

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import neuronxcc.nki.typing as nt

RNG = np.random.default_rng(8)
F = np.float32


def draw(*shape):
    return RNG.standard_normal(shape).astype(F)


def close(got, want, tol=1e-4):
    assert got.shape == want.shape, (got.shape, want.shape)
    np.testing.assert_allclose(got, want, rtol=tol, atol=tol)


class Matmul(unittest.TestCase):
    """lhs comes transposed, as (K, M)."""

    M, K, N = 256, 384, 1024
    LHS, RHS = draw(384, 256), draw(384, 1024)

    def check(self, kernel):
        close(nki.simulate_kernel(kernel, self.LHS, self.RHS), self.LHS.T @ self.RHS, 1e-3)

    def test_one_tile(self):
        @nki.jit
        def kernel(lhs_t, rhs):
            out = nl.ndarray((64, 512), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
            k, m = nl.mgrid[0:128, 0:64]
            product = nl.matmul(nl.load(lhs_t[k, m]), nl.load(rhs[nl.mgrid[0:128, 0:512]]), transpose_x=True)
            nl.store(out[nl.mgrid[0:64, 0:512]], value=nl.copy(product, dtype=out.dtype))
            return out

        close(nki.simulate_kernel(kernel, self.LHS, self.RHS), self.LHS[:128, :64].T @ self.RHS[:128, :512], 1e-3)

    def test_tiled(self):
        @nki.jit
        def kernel(lhs_t, rhs):
            (k, m), n = lhs_t.shape, rhs.shape[1]
            out = nl.ndarray((m, n), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
            tile_m, tile_k, tile_n = nl.tile_size.gemm_stationary_fmax, nl.tile_size.pmax, nl.tile_size.gemm_moving_fmax
            for i in nl.affine_range(m // tile_m):
                for j in nl.affine_range(n // tile_n):
                    acc = nl.zeros((tile_m, tile_n), nl.float32, buffer=nl.psum)
                    for s in nl.affine_range(k // tile_k):
                        left = nl.load(lhs_t[s * tile_k : (s + 1) * tile_k, i * tile_m : (i + 1) * tile_m])
                        right = nl.load(rhs[s * tile_k : (s + 1) * tile_k, j * tile_n : (j + 1) * tile_n])
                        acc += nl.matmul(left, right, transpose_x=True)
                    nl.store(
                        out[i * tile_m : (i + 1) * tile_m, j * tile_n : (j + 1) * tile_n],
                        value=nl.copy(acc, dtype=out.dtype),
                    )
            return out

        self.check(kernel)

    def test_hoisted_loads(self):
        @nki.jit
        def kernel(lhs_t, rhs):
            (k, m), n = lhs_t.shape, rhs.shape[1]
            out = nl.ndarray((m, n), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
            p, fm, fn = nl.arange(128)[:, None], nl.arange(128)[None, :], nl.arange(512)[None, :]
            for i in nl.affine_range(m // 128):
                lefts = nl.ndarray((k // 128, nl.par_dim(128), 128), dtype=lhs_t.dtype, buffer=nl.sbuf)
                for s in nl.affine_range(k // 128):
                    lefts[s, p, fm] = nl.load(lhs_t[s * 128 + p, i * 128 + fm])
                for j in nl.affine_range(n // 512):
                    rights = nl.ndarray((k // 128, nl.par_dim(128), 512), dtype=rhs.dtype, buffer=nl.sbuf)
                    for s in nl.affine_range(k // 128):
                        rights[s, p, fn] = nl.load(rhs[s * 128 + p, j * 512 + fn])
                    acc = nl.zeros((128, 512), nl.float32, buffer=nl.psum)
                    for s in nl.affine_range(k // 128):
                        acc[...] += nisa.nc_matmul(lefts[s, p, fm], rights[s, p, fn])
                    nl.store(out[i * 128 + p, j * 512 + fn], value=acc)
            return out

        self.check(kernel)

    def test_blocked_free_dimensions(self):
        @nki.jit
        def kernel(lhs_t, rhs):
            (k, m), n = lhs_t.shape, rhs.shape[1]
            out = nl.ndarray((m, n), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
            in_m, in_n = 2, 2
            p, fm, fn = nl.arange(128)[:, None], nl.arange(128)[None, :], nl.arange(512)[None, :]
            for bm in nl.affine_range(m // (128 * in_m)):
                lefts = nl.ndarray((in_m, k // 128, nl.par_dim(128), 128), dtype=lhs_t.dtype)
                for i in nl.affine_range(in_m):
                    for s in nl.affine_range(k // 128):
                        lefts[i, s, p, fm] = nl.load(lhs_t[s * 128 + p, (bm * in_m + i) * 128 + fm])
                for bn in nl.affine_range(n // (512 * in_n)):
                    rights = nl.ndarray((in_n, k // 128, nl.par_dim(128), 512), dtype=rhs.dtype)
                    for j in nl.affine_range(in_n):
                        for s in nl.affine_range(k // 128):
                            rights[j, s, p, fn] = nl.load(rhs[s * 128 + p, (bn * in_n + j) * 512 + fn])
                    for i in nl.affine_range(in_m):
                        for j in nl.affine_range(in_n):
                            acc = nl.zeros((128, 512), nl.float32, buffer=nl.psum)
                            for s in nl.affine_range(k // 128):
                                acc += nl.matmul(lefts[i, s, p, fm], rights[j, s, p, fn], transpose_x=True)
                            nl.store(out[(bm * in_m + i) * 128 + p, (bn * in_n + j) * 512 + fn], value=acc)
            return out

        self.check(kernel)

    def test_fully_blocked(self):
        @nki.jit
        def kernel(lhs_t, rhs):
            (k, m), n = lhs_t.shape, rhs.shape[1]
            out = nl.ndarray((m, n), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
            in_m, in_n, in_k = 2, 1, 3
            for bn in nl.affine_range(n // (512 * in_n)):
                sums = nl.zeros((m // (128 * in_m), in_m, in_n, nl.par_dim(128), 512), dtype=nl.float32)
                for bk in nl.sequential_range(k // (128 * in_k)):
                    rights = nl.ndarray((in_k, nl.par_dim(128), 512 * in_n), dtype=rhs.dtype)
                    for s in nl.affine_range(in_k):
                        rights[s] = nl.load(rhs[nl.ds((bk * in_k + s) * 128, 128), nl.ds(bn * 512 * in_n, 512 * in_n)])
                    for bm in nl.affine_range(m // (128 * in_m)):
                        lefts = nl.ndarray((in_k, nl.par_dim(128), 128 * in_m), dtype=lhs_t.dtype)
                        for s in nl.affine_range(in_k):
                            lefts[s] = nl.load(
                                lhs_t[nl.ds((bk * in_k + s) * 128, 128), nl.ds(bm * 128 * in_m, 128 * in_m)]
                            )
                        for j in nl.affine_range(in_n):
                            for i in nl.affine_range(in_m):
                                acc = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
                                for s in nl.affine_range(in_k):
                                    acc += nisa.nc_matmul(
                                        lefts[s, :, nl.ds(i * 128, 128)], rights[s, :, nl.ds(j * 512, 512)]
                                    )
                                sums[bm, i, j] += acc
                for bm in nl.affine_range(m // (128 * in_m)):
                    for i in nl.affine_range(in_m):
                        row = nl.ndarray((nl.par_dim(128), 512 * in_n), dtype=out.dtype)
                        for j in nl.affine_range(in_n):
                            row[:, nl.ds(j * 512, 512)] = nl.copy(sums[bm, i, j], dtype=out.dtype)
                        nl.store(out[nl.ds((bm * in_m + i) * 128, 128), nl.ds(bn * 512 * in_n, 512 * in_n)], value=row)
            return out

        self.check(kernel)


class RowKernels(unittest.TestCase):
    def test_softmax_with_ragged_rows(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            rows, columns = x.shape
            p, f = nl.arange(128)[:, None], nl.arange(columns)[None, :]
            for i in nl.affine_range(-(-rows // 128)):
                t = nl.load(x[i * 128 + p, f], mask=(i * 128 + p < rows))
                negative_top = nisa.tensor_reduce(np.max, t, axis=[1], negate=True)
                total = nl.ndarray((nl.par_dim(128), 1), dtype=nl.float32)
                e = nisa.activation_reduce(np.exp, t, bias=negative_top, reduce_op=np.add, reduce_res=total)
                nl.store(
                    out[i * 128 + p, f],
                    value=nisa.tensor_scalar(e, np.multiply, nisa.reciprocal(total)),
                    mask=(i * 128 + p < rows),
                )
            return out

        x = draw(301, 77)
        e = np.exp(x - x.max(1, keepdims=True))
        close(nki.simulate_kernel(kernel, x), e / e.sum(1, keepdims=True))

    def test_rmsnorm_with_ragged_rows(self):
        @nki.jit
        def kernel(a, g):
            out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
            p, one, f = nl.arange(128)[:, None], nl.arange(1)[:, None], nl.arange(a.shape[1])[None, :]
            weight = nl.load(g.reshape((1, g.shape[0]))[one, f])
            for i in nl.affine_range((a.shape[0] + 127) // 128):
                inside = i * 128 + p < a.shape[0]
                t = nl.load(a[i * 128 + p, f], mask=inside)
                mean = nl.sum(nl.square(t), axis=[1]) / a.shape[1]
                scale = nl.rsqrt(mean + 1e-6)
                normed = nl.multiply(t, scale)
                nl.store(
                    out[i * 128 + p, f],
                    value=nl.multiply(normed, weight.broadcast_to((128, a.shape[1])), mask=inside),
                    mask=inside,
                )
            return out

        a, g = draw(250, 96), draw(96)
        close(nki.simulate_kernel(kernel, a, g), a / np.sqrt((a * a).mean(1, keepdims=True) + 1e-6) * g)

    def test_layernorm_with_bn_stats(self):
        @nki.jit
        def kernel(x, shift, scale):
            rows, columns = x.shape
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            chunk = 64
            b = nl.broadcast_to(nl.load(shift.reshape((1, columns))), shape=(128, columns))
            g = nl.broadcast_to(nl.load(scale.reshape((1, columns))), shape=(128, columns))
            p, f, s = nl.arange(128)[:, None], nl.arange(columns)[None, :], nl.arange(chunk)[None, :]
            for i in nl.affine_range((rows + 127) // 128):
                inside = i * 128 + p < rows
                t = nl.load(x[i * 128 + p, f], mask=inside)
                stats = nl.ndarray((128, columns // chunk * 6), dtype=nl.float32)
                for c in nl.affine_range(columns // chunk):
                    stats[p, c * 6 + nl.arange(6)[None, :]] = nisa.bn_stats(t[p, c * chunk + s])
                mv = nisa.bn_aggr(stats)
                inverse = nl.rsqrt(nl.add(mv[:, 1], 1e-5))
                y = nisa.tensor_scalar(t, np.subtract, mv[:, 0], op1=np.multiply, operand1=inverse)
                nl.store(out[i * 128 + p, f], value=y * g + b, mask=inside)
            return out

        x, shift, scale = draw(200, 192), draw(192), draw(192)
        want = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * scale + shift
        close(nki.simulate_kernel(kernel, x, shift, scale), want)

    def test_rope(self):
        @nki.jit
        def kernel(x, cos, sin):
            rows, width = x.shape
            half = width // 2
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            for i in nl.affine_range(rows // 128):
                row = nl.ds(i * 128, 128)
                t, c, s = nl.load(x[row, :]), nl.load(cos[row, :]), nl.load(sin[row, :])
                rotated = nl.ndarray((128, width), dtype=x.dtype)
                rotated[:, 0:half] = nl.negative(t[:, half:width])
                rotated[:, half:width] = nl.copy(t[:, 0:half])
                y = nisa.tensor_tensor(nl.multiply(t, c), nl.multiply(rotated, s), op=np.add)
                nl.store(out[row, :], value=y)
            return out

        x = draw(256, 64)
        angle = np.arange(256)[:, None] / 10000 ** (np.arange(32) / 32)[None, :]
        cos, sin = (np.concatenate([f(angle)] * 2, 1).astype(F) for f in (np.cos, np.sin))
        close(nki.simulate_kernel(kernel, x, cos, sin), x * cos + np.concatenate([-x[:, 32:], x[:, :32]], 1) * sin)


class Attention(unittest.TestCase):
    def test_flash_attention_forward(self):
        """Heads on the grid; running maximum and sum in block tensors; the causal half is skipped by a branch."""

        @nki.jit
        def kernel(q, k, v, causal):
            heads, width, length = q.shape
            out = nl.ndarray((heads, length, width), dtype=q.dtype, buffer=nl.shared_hbm)
            head = nl.program_id(axis=0)
            tiles = length // 128
            keys = nl.ndarray((tiles, nl.par_dim(width), 128), dtype=k.dtype)
            values = nl.ndarray((tiles, nl.par_dim(128), width), dtype=v.dtype)
            for j in nl.affine_range(tiles):
                keys[j] = nl.load(k[head, :, nl.ds(j * 128, 128)])
                values[j] = nl.load(v[head, nl.ds(j * 128, 128), :])
            p, f = nl.mgrid[0:128, 0:128]
            for i in nl.affine_range(tiles):
                query = nl.multiply(nl.load(q[head, :, nl.ds(i * 128, 128)]), 1.0 / width**0.5)
                acc = nl.zeros((nl.par_dim(128), width), dtype=nl.float32)
                top = nl.full((nl.par_dim(128), 1), -3.0e38, dtype=nl.float32)
                total = nl.zeros((nl.par_dim(128), 1), dtype=nl.float32)
                for j in nl.sequential_range(tiles):
                    run = j <= i if causal else True
                    if run:
                        scores = nl.ndarray((nl.par_dim(128), 128), dtype=nl.float32)
                        product = nl.ndarray((nl.par_dim(128), 128), dtype=nl.float32, buffer=nl.psum)
                        product[...] = nisa.nc_matmul(query, keys[j])
                        if causal:
                            scores[...] = nisa.affine_select(
                                pred=(i * 128 + p >= j * 128 + f), on_true_tile=nl.copy(product), on_false_value=-3.0e38
                            )
                        else:
                            scores[...] = nl.copy(product)
                        new_top = nl.maximum(top, nisa.tensor_reduce(np.max, scores, axis=(1,)))
                        shrink = nisa.activation(np.exp, top, bias=nl.negative(new_top), scale=1.0)
                        row_sum = nl.ndarray((nl.par_dim(128), 1), dtype=nl.float32)
                        weights = nisa.activation_reduce(
                            np.exp, scores, bias=nl.negative(new_top), reduce_op=np.add, reduce_res=row_sum
                        )
                        total[...] = nl.add(nl.multiply(total, shrink), row_sum)
                        turned = nisa.tensor_copy(nisa.nc_transpose(weights))
                        acc[...] = nl.add(
                            nisa.tensor_scalar(acc, np.multiply, shrink), nl.matmul(turned, values[j], transpose_x=True)
                        )
                        top[...] = nl.copy(new_top)
                nl.store(out[head, nl.ds(i * 128, 128), :], value=nl.multiply(acc, nl.reciprocal(total)))
            return out

        q, k, v = draw(2, 32, 384), draw(2, 32, 384), draw(2, 384, 32)
        scores = np.einsum("hdi,hdj->hij", q, k) / np.sqrt(32)
        for causal in (True, False):
            s = np.where(np.tril(np.ones((384, 384), bool)), scores, -np.inf) if causal else scores
            e = np.exp(s - s.max(-1, keepdims=True))
            close(nki.simulate_kernel(kernel[2], q, k, v, causal), (e / e.sum(-1, keepdims=True)) @ v)


class ScansAndPools(unittest.TestCase):
    def test_mamba_scan(self):
        """h[t] = exp(delta[t] A) h[t-1] + delta[t] u[t] B[t]; y[t] = sum over states of h[t] C[t]."""

        @nki.jit
        def kernel(delta, u, a, b, c):
            batch, channels, length = delta.shape
            states = a.shape[1]
            out = nl.ndarray(delta.shape, dtype=delta.dtype, buffer=nl.shared_hbm)
            for n in nl.affine_range(batch):
                for ch in nl.affine_range(channels // 128):
                    rows = nl.ds(ch * 128, 128)
                    step, value, decay = nl.load(delta[n, rows, :]), nl.load(u[n, rows, :]), nl.load(a[rows, :])
                    scanned = nl.zeros((nl.par_dim(128), length), dtype=nl.float32)
                    for s in nl.affine_range(states):
                        factor = nisa.activation(op=nl.exp, data=step, scale=decay[:, s])
                        rate = nl.multiply(step, value)
                        driven = nisa.tensor_tensor(
                            rate, nl.load(b[n, nl.ds(s, 1), :]).broadcast_to((128, length)), op=nl.multiply
                        )
                        state = nisa.tensor_tensor_scan(factor, driven, initial=0, op0=np.multiply, op1=np.add)
                        scanned[...] += nl.multiply(state, nl.load(c[n, nl.ds(s, 1), :]).broadcast_to((128, length)))
                    nl.store(out[n, rows, :], value=scanned)
            return out

        batch, channels, length, states = 2, 256, 40, 3
        delta, u = np.abs(draw(batch, channels, length)) * F(0.3), draw(batch, channels, length)
        a, b, c = -np.abs(draw(channels, states)), draw(batch, states, length), draw(batch, states, length)
        h, want = np.zeros((batch, channels, states)), np.zeros((batch, channels, length))
        for t in range(length):
            h = np.exp(delta[:, :, t, None] * a) * h + (delta * u)[:, :, t, None] * b[:, None, :, t]
            want[:, :, t] = (h * c[:, None, :, t]).sum(-1)
        close(nki.simulate_kernel(kernel, delta, u, a, b, c), want.astype(F), 1e-3)

    def test_average_pool_on_five_dimensional_tiles(self):
        @nki.jit
        def kernel(x, size):
            channels, height, width = x.shape
            out = nl.ndarray((channels, height // size, width // size), dtype=x.dtype, buffer=nl.shared_hbm)
            p = nl.arange(channels)[:, None, None, None, None]
            i, j = nl.arange(height // size)[None, :, None, None, None], nl.arange(size)[None, None, :, None, None]
            k, m = nl.arange(width // size)[None, None, None, :, None], nl.arange(size)[None, None, None, None, :]
            t: nt.tensor[channels, height, width] = nl.load(x)
            total = nl.sum(t[p, size * i + j, size * k + m], axis=[2, 4])
            nl.store(out, value=total / (size * size))
            return out

        x = draw(48, 12, 18)
        for size in (2, 3):
            close(nki.simulate_kernel(kernel, x, size), x.reshape(48, 12 // size, size, 18 // size, size).mean((2, 4)))

    def test_transpose_of_two_free_dimensions(self):
        @nki.jit
        def kernel(x, rows, columns):
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            p = nl.arange(x.shape[0])[:, None]
            t = nl.load(x)
            turned = nl.ndarray((nl.par_dim(x.shape[0]), rows * columns), dtype=x.dtype)
            i, j = nl.arange(rows)[None, :, None], nl.arange(columns)[None, None, :]
            q = nl.arange(x.shape[0])[:, None, None]
            turned[q, j * rows + i] = nl.copy(t[q, i * columns + j])
            nl.store(out[p, nl.arange(rows * columns)[None, :]], value=turned)
            return out

        x = draw(100, 35)
        want = x.reshape(100, 5, 7).transpose(0, 2, 1).reshape(100, 35)
        self.assertTrue(np.array_equal(nki.simulate_kernel(kernel, x, 5, 7), want))


class Spmd(unittest.TestCase):
    def test_addition_over_a_grid(self):
        @nki.jit
        def add_tiles(a, b):
            out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
            i, j = nl.program_id(0) * 128, nl.program_id(1) * 512
            p, f = i + nl.arange(128)[:, None], j + nl.arange(512)[None, :]
            nl.store(out[p, f], value=nl.load(a[p, f]) + nl.load(b[p, f]))
            return out

        a, b = draw(256, 1024), draw(256, 1024)
        for grid in ((2, 2), (nl.spmd_dim(nl.nc(2), 1), 2)):
            self.assertTrue(np.array_equal(nki.simulate_kernel(add_tiles[grid], a, b), a + b))


if __name__ == "__main__":
    unittest.main()
