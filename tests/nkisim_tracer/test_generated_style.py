"""Idioms of kernels that tools write: declarations first, many block dimensions, index grids everywhere, lazily zeroed PSUM."""

import unittest

import numpy as np

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

RNG = np.random.default_rng(17)


def draw(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def close(got, want, tol=2e-4):
    assert got.shape == want.shape, (got.shape, want.shape)
    np.testing.assert_allclose(got, want, rtol=tol, atol=tol)


class GeneratedStyle(unittest.TestCase):
    def test_low_rank_product_with_identity_transposes_and_a_loop_reduce(self):
        """y = x w + (x a) b, x in tiles of 128 rows, k in blocks of 2 tiles reduced over a sequential loop."""
        @nki.jit
        def kernel(x, w, a, b):
            import neuronxcc.nki.isa as nisa
            from neuronxcc.nki.language import par_dim
            out = nl.ndarray((2, 128, 512), dtype=np.float32, buffer=nl.shared_hbm)
            identity = nl.shared_constant(np.identity(128, dtype=np.float32))
            eye = nl.ndarray((par_dim(128), 128), dtype=np.float32, name="identity_local", buffer=nl.sbuf)
            rows = nl.ndarray((2, 2, par_dim(128), 256), dtype=np.float32, name="x_local", buffer=nl.sbuf)
            turned_psum = nl.zeros((2, 2, 2, par_dim(128), 128), dtype=np.float32, name="17.3", buffer=nl.psum, lazy_initialization=True)
            turned = nl.ndarray((2, 2, par_dim(128), 2, 128), dtype=np.float32, name="", buffer=nl.sbuf)
            weights = nl.ndarray((2, 2, par_dim(128), 512), dtype=np.float32, buffer=nl.sbuf)
            lefts = nl.ndarray((2, 2, par_dim(128), 32), dtype=np.float32, buffer=nl.sbuf)
            main = nl.zeros((2, 2, par_dim(128), 512), dtype=np.float32, name="", buffer=nl.psum, lazy_initialization=True)
            low = nl.zeros((2, par_dim(32), 128), dtype=np.float32, name="", buffer=nl.psum, lazy_initialization=True)
            low_sbuf = nl.ndarray((2, par_dim(32), 128), dtype=np.float32, buffer=nl.sbuf)
            total = nl.full((2, par_dim(128), 512), fill_value=np.dtype(np.float32).type(0), dtype=np.float32, buffer=nl.sbuf)
            second = nl.zeros((2, par_dim(128), 512), dtype=np.float32, buffer=nl.psum, lazy_initialization=True)
            eye[nl.arange(128)[:, None], nl.arange(128)[None, :]] = nl.load(identity[nl.arange(128)[:, None], nl.arange(128)[None, :]], dtype=np.float32, mask=None)
            for i0 in nl.sequential_range(2):
                for i1 in nl.affine_range(2):
                    weights[i0, i1, nl.arange(128)[:, None], nl.arange(512)[None, :]] = nl.load(
                        w[128 * i1 + 256 * i0 + nl.arange(128)[:, None], nl.arange(512)[None, :]], dtype=np.float32, mask=None)
                    lefts[i0, i1, nl.arange(128)[:, None], nl.arange(32)[None, :]] = nl.load(a[128 * i1 + 256 * i0 + nl.arange(128)[:, None], nl.arange(32)[None, :]])
                    ' end loop i1 '
                for i2 in nl.affine_range(2):
                    rows[i0, i2, nl.arange(128)[:, None, None], 128 * nl.arange(2)[None, :, None] + nl.arange(128)[None, None, :]] = nl.load(
                        x[i2, nl.arange(128)[:, None, None], 2 * i0 + nl.arange(2)[None, :, None], nl.arange(128)[None, None, :]], dtype=np.float32, mask=None)
                    for i3 in nl.affine_range(2):
                        turned_psum[i0, i2, i3, nl.arange(128)[:, None], nl.arange(128)[None, :]] = nisa.nc_matmul(
                            rows[i0, i2, nl.arange(128)[:, None], 128 * i3 + nl.arange(128)[None, :]], eye[nl.arange(128)[:, None], nl.arange(128)[None, :]],
                            is_stationary_onezero=False, is_moving_onezero=True, mask=None, is_transpose=True)
                        turned[i0, i2, nl.arange(128)[:, None], i3, nl.arange(128)[None, :]] = nl.copy(
                            turned_psum[i0, i2, i3, nl.arange(128)[:, None], nl.arange(128)[None, :]], dtype=np.float32, mask=None)
                    for i4 in nl.affine_range(2):
                        main[i0, i2, nl.arange(128)[:, None], nl.arange(512)[None, :]] += nisa.nc_matmul(
                            turned[i0, i2, nl.arange(128)[:, None], i4, nl.arange(128)[None, :]], weights[i0, i4, nl.arange(128)[:, None], nl.arange(512)[None, :]])
                        low[i2, nl.arange(32)[:, None], nl.arange(128)[None, :]] += nisa.nc_matmul(
                            lefts[i0, i4, nl.arange(128)[:, None], nl.arange(32)[None, :]], turned[i0, i2, nl.arange(128)[:, None], i4, nl.arange(128)[None, :]])
                    total[i2, nl.arange(128)[:, None], nl.arange(512)[None, :]] = nl.loop_reduce(
                        main[i0, i2, nl.arange(128)[:, None], nl.arange(512)[None, :]], op=np.add, loop_indices=[i0], mask=None, dtype=np.float32)
            for i5 in nl.affine_range(2):
                low_sbuf[i5, nl.arange(32)[:, None], nl.arange(128)[None, :]] = nl.copy(low[i5, nl.arange(32)[:, None], nl.arange(128)[None, :]], dtype=np.float32, mask=None)
                second[i5, nl.arange(128)[:, None], nl.arange(512)[None, :]] = nisa.nc_matmul(
                    low_sbuf[i5, nl.arange(32)[:, None], nl.arange(128)[None, :]], nl.load(b[nl.arange(32)[:, None], nl.arange(512)[None, :]]))
                nl.store(out[i5, nl.arange(128)[:, None], nl.arange(512)[None, :]], value=nl.add(
                    total[i5, nl.arange(128)[:, None], nl.arange(512)[None, :]], second[i5, nl.arange(128)[:, None], nl.arange(512)[None, :]], mask=None, dtype=np.float32), mask=None)
            return out

        x, w, a, b = draw(2, 128, 4, 128), draw(512, 512), draw(512, 32), draw(32, 512)
        flat = x.reshape(256, 512)
        close(nki.simulate_kernel(kernel, x, w, a, b), (flat @ w + flat @ a @ b).reshape(2, 128, 512), 3e-3)

    def test_a_scan_in_sequence_tiles_starts_from_a_conditional_expression(self):
        @nki.jit
        def kernel(decay, driven):
            channels, length = decay.shape
            out = nl.ndarray(decay.shape, dtype=decay.dtype, buffer=nl.shared_hbm)
            size = 32
            tiles = length // size
            state = nl.zeros((nl.par_dim(channels), 1), dtype=decay.dtype)
            for i in nl.sequential_range(tiles):
                d, u = nl.load(decay[:, i * size:(i + 1) * size]), nl.load(driven[:, i * size:(i + 1) * size])
                first = state[0:channels, 0] if i > 0 else 0
                scanned = nki.isa.tensor_tensor_scan(d, u, initial=first, op0=np.multiply, op1=np.add)
                if i < tiles - 1:
                    last = scanned[:, size - 1:size]
                    state[0:channels, 0:1] = last
                nl.store(out[:, i * size:(i + 1) * size], scanned)
            return out

        decay, driven = np.abs(draw(128, 96)) * np.float32(0.7), draw(128, 96)
        want, state = [], np.zeros(128, np.float32)
        for t in range(96):
            state = decay[:, t] * state + driven[:, t]
            want.append(state)
        close(nki.simulate_kernel(kernel, decay, driven), np.stack(want, 1))

    def test_conditional_expressions_choose_tiles_when_the_program_runs(self):
        @nki.jit
        def kernel(x, flag):
            out = nl.ndarray((4,) + x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            low, high = nl.load(x), nl.full(x.shape, 5.0, dtype=x.dtype)
            for i in nl.affine_range(4):
                t = low if i < 2 else high
                u = (1.0 if i == 3 else low)
                scale = 2.0 if flag else 3.0
                nl.store(out[i], value=t * scale + u)
            return out

        x = draw(16, 8)
        for flag, scale in ((True, 2), (False, 3)):
            want = np.stack([(x if i < 2 else np.full_like(x, 5)) * np.float32(scale) + (np.float32(1) if i == 3 else x) for i in range(4)])
            close(nki.simulate_kernel(kernel, x, flag), want, 1e-6)

    def test_a_tile_indexed_by_a_remainder_is_a_rotating_buffer(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            ring = nl.ndarray((2, nl.par_dim(32), 16), dtype=x.dtype)
            ring[0] = nl.load(x[nl.ds(0, 32), :])
            for i in nl.sequential_range(4):
                if i < 3:
                    ring[(i + 1) % 2] = nl.load(x[nl.ds(i * 32 + 32, 32), :])
                nl.store(out[nl.ds(i * 64 // 2, 32), :], value=nl.multiply(ring[i % 2], 2.0))
            return out

        x = draw(128, 16)
        close(nki.simulate_kernel(kernel, x), 2 * x, 0)

    def test_matmul_operands_are_masked_by_their_indices(self):
        @nki.jit
        def kernel(a, b):
            (k, m), n = a.shape, b.shape[1]
            out = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.shared_hbm)
            p, fm, fn = nl.arange(128)[:, None], nl.arange(m)[None, :], nl.arange(n)[None, :]
            acc = nl.zeros((nl.par_dim(m), n), dtype=nl.float32, buffer=nl.psum)
            for s in nl.affine_range(-(-k // 128)):
                left, right = nl.zeros((nl.par_dim(128), m), dtype=a.dtype), nl.zeros((nl.par_dim(128), n), dtype=b.dtype)
                left[p, fm] = nl.load(a[s * 128 + p, fm], mask=(s * 128 + p < k))
                right[p, fn] = nl.load(b[s * 128 + p, fn], mask=(s * 128 + p < k))
                acc[nl.arange(m)[:, None], fn] += nisa.nc_matmul(left, right)
            nl.store(out, value=acc)
            return out

        a, b = draw(300, 96), draw(300, 200)
        close(nki.simulate_kernel(kernel, a, b), a.T @ b, 1e-3)


if __name__ == "__main__":
    unittest.main()
