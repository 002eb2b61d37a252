"""Idioms of kernels that tools and vendors write: many block dimensions, index grids everywhere, lazily zeroed PSUM,
windows, direct allocation."""

import unittest

import numpy as np

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import neuronxcc.nki.typing as nt
from neuronxcc.nki.language import par_dim

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
            turned_psum = nl.zeros(
                (2, 2, 2, par_dim(128), 128), dtype=np.float32, name="17.3", buffer=nl.psum, lazy_initialization=True
            )
            turned = nl.ndarray((2, 2, par_dim(128), 2, 128), dtype=np.float32, name="", buffer=nl.sbuf)
            weights = nl.ndarray((2, 2, par_dim(128), 512), dtype=np.float32, buffer=nl.sbuf)
            lefts = nl.ndarray((2, 2, par_dim(128), 32), dtype=np.float32, buffer=nl.sbuf)
            main = nl.zeros(
                (2, 2, par_dim(128), 512), dtype=np.float32, name="", buffer=nl.psum, lazy_initialization=True
            )
            low = nl.zeros((2, par_dim(32), 128), dtype=np.float32, name="", buffer=nl.psum, lazy_initialization=True)
            low_sbuf = nl.ndarray((2, par_dim(32), 128), dtype=np.float32, buffer=nl.sbuf)
            total = nl.full(
                (2, par_dim(128), 512), fill_value=np.dtype(np.float32).type(0), dtype=np.float32, buffer=nl.sbuf
            )
            second = nl.zeros((2, par_dim(128), 512), dtype=np.float32, buffer=nl.psum, lazy_initialization=True)
            eye[nl.arange(128)[:, None], nl.arange(128)[None, :]] = nl.load(
                identity[nl.arange(128)[:, None], nl.arange(128)[None, :]], dtype=np.float32, mask=None
            )
            for i0 in nl.sequential_range(2):
                for i1 in nl.affine_range(2):
                    weights[i0, i1, nl.arange(128)[:, None], nl.arange(512)[None, :]] = nl.load(
                        w[128 * i1 + 256 * i0 + nl.arange(128)[:, None], nl.arange(512)[None, :]],
                        dtype=np.float32,
                        mask=None,
                    )
                    lefts[i0, i1, nl.arange(128)[:, None], nl.arange(32)[None, :]] = nl.load(
                        a[128 * i1 + 256 * i0 + nl.arange(128)[:, None], nl.arange(32)[None, :]]
                    )
                    " end loop i1 "
                for i2 in nl.affine_range(2):
                    rows[
                        i0,
                        i2,
                        nl.arange(128)[:, None, None],
                        128 * nl.arange(2)[None, :, None] + nl.arange(128)[None, None, :],
                    ] = nl.load(
                        x[
                            i2,
                            nl.arange(128)[:, None, None],
                            2 * i0 + nl.arange(2)[None, :, None],
                            nl.arange(128)[None, None, :],
                        ],
                        dtype=np.float32,
                        mask=None,
                    )
                    for i3 in nl.affine_range(2):
                        turned_psum[i0, i2, i3, nl.arange(128)[:, None], nl.arange(128)[None, :]] = nisa.nc_matmul(
                            rows[i0, i2, nl.arange(128)[:, None], 128 * i3 + nl.arange(128)[None, :]],
                            eye[nl.arange(128)[:, None], nl.arange(128)[None, :]],
                            is_stationary_onezero=False,
                            is_moving_onezero=True,
                            mask=None,
                            is_transpose=True,
                        )
                        turned[i0, i2, nl.arange(128)[:, None], i3, nl.arange(128)[None, :]] = nl.copy(
                            turned_psum[i0, i2, i3, nl.arange(128)[:, None], nl.arange(128)[None, :]],
                            dtype=np.float32,
                            mask=None,
                        )
                    for i4 in nl.affine_range(2):
                        main[i0, i2, nl.arange(128)[:, None], nl.arange(512)[None, :]] += nisa.nc_matmul(
                            turned[i0, i2, nl.arange(128)[:, None], i4, nl.arange(128)[None, :]],
                            weights[i0, i4, nl.arange(128)[:, None], nl.arange(512)[None, :]],
                        )
                        low[i2, nl.arange(32)[:, None], nl.arange(128)[None, :]] += nisa.nc_matmul(
                            lefts[i0, i4, nl.arange(128)[:, None], nl.arange(32)[None, :]],
                            turned[i0, i2, nl.arange(128)[:, None], i4, nl.arange(128)[None, :]],
                        )
                    total[i2, nl.arange(128)[:, None], nl.arange(512)[None, :]] = nl.loop_reduce(
                        main[i0, i2, nl.arange(128)[:, None], nl.arange(512)[None, :]],
                        op=np.add,
                        loop_indices=[i0],
                        mask=None,
                        dtype=np.float32,
                    )
            for i5 in nl.affine_range(2):
                low_sbuf[i5, nl.arange(32)[:, None], nl.arange(128)[None, :]] = nl.copy(
                    low[i5, nl.arange(32)[:, None], nl.arange(128)[None, :]], dtype=np.float32, mask=None
                )
                second[i5, nl.arange(128)[:, None], nl.arange(512)[None, :]] = nisa.nc_matmul(
                    low_sbuf[i5, nl.arange(32)[:, None], nl.arange(128)[None, :]],
                    nl.load(b[nl.arange(32)[:, None], nl.arange(512)[None, :]]),
                )
                nl.store(
                    out[i5, nl.arange(128)[:, None], nl.arange(512)[None, :]],
                    value=nl.add(
                        total[i5, nl.arange(128)[:, None], nl.arange(512)[None, :]],
                        second[i5, nl.arange(128)[:, None], nl.arange(512)[None, :]],
                        mask=None,
                        dtype=np.float32,
                    ),
                    mask=None,
                )
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
                d, u = nl.load(decay[:, i * size : (i + 1) * size]), nl.load(driven[:, i * size : (i + 1) * size])
                first = state[0:channels, 0] if i > 0 else 0
                scanned = nki.isa.tensor_tensor_scan(d, u, initial=first, op0=np.multiply, op1=np.add)
                if i < tiles - 1:
                    last = scanned[:, size - 1 : size]
                    state[0:channels, 0:1] = last
                nl.store(out[:, i * size : (i + 1) * size], scanned)
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
                u = 1.0 if i == 3 else low
                scale = 2.0 if flag else 3.0
                nl.store(out[i], value=t * scale + u)
            return out

        x = draw(16, 8)
        for flag, scale in ((True, 2), (False, 3)):
            want = np.stack(
                [
                    (x if i < 2 else np.full_like(x, 5)) * np.float32(scale) + (np.float32(1) if i == 3 else x)
                    for i in range(4)
                ]
            )
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
                left, right = nl.zeros((nl.par_dim(128), m), dtype=a.dtype), nl.zeros(
                    (nl.par_dim(128), n), dtype=b.dtype
                )
                left[p, fm] = nl.load(a[s * 128 + p, fm], mask=(s * 128 + p < k))
                right[p, fn] = nl.load(b[s * 128 + p, fn], mask=(s * 128 + p < k))
                acc[nl.arange(m)[:, None], fn] += nisa.nc_matmul(left, right)
            nl.store(out, value=acc)
            return out

        a, b = draw(300, 96), draw(300, 200)
        close(nki.simulate_kernel(kernel, a, b), a.T @ b, 1e-3)


class Windows(unittest.TestCase):
    def test_gradients_go_to_the_first_maximum_of_each_window(self):
        """Backward of a 3x3 max pool, stride 2, padding 1: two images share the partitions, windows are 4-D views."""

        @nki.jit
        def kernel(x, grad):
            images, channels, height, width = x.shape
            rows, columns = grad.shape[2:]
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            for pair in nl.affine_range(images // 2):
                padded = nl.full((par_dim(128), height + 2, width + 2), fill_value=nl.finfo(x.dtype).min, dtype=x.dtype)
                grads = nl.ndarray((par_dim(128), rows, columns), dtype=x.dtype)
                for half in nl.affine_range(2):
                    padded[half * 64 : (half + 1) * 64, 1 : height + 1, 1 : width + 1] = nl.load(
                        x[2 * pair + half, 0:64, 0:height, 0:width], dtype=x.dtype
                    )
                    grads[half * 64 : (half + 1) * 64, 0:rows, 0:columns] = nl.load(
                        grad[2 * pair + half, 0:64, 0:rows, 0:columns]
                    )
                chosen = nl.ndarray((par_dim(128), rows, columns, 3, 3), dtype=nl.uint8)
                for r in nl.affine_range(rows):
                    w = nl.mgrid[0:128, 0:columns, 0:3, 0:3]
                    windows: nt.tensor[128, columns, 3, 3] = nl.copy(padded[w.p, 2 * r + w.y, 2 * w.x + w.z])
                    top: nt.tensor[128, columns, 1, 1] = nl.max(windows, axis=[2, 3], keepdims=True)
                    places = nisa.iota(3 * w.y + w.z, dtype=nl.uint32)
                    candidates = nl.where(nl.equal(top, windows, dtype=nl.int8), places, 9, dtype=nl.uint32)
                    first = nl.min(candidates, axis=[2, 3], dtype=nl.uint32, keepdims=True)
                    chosen[0:128, r, 0:columns, 0:3, 0:3] = nl.equal(first, places, dtype=nl.uint8)
                parts = nl.ndarray((3, 3, par_dim(128), height, width), dtype=x.dtype, buffer=nl.private_hbm)
                t = nl.mgrid[0:128, 0:rows, 0:columns]
                for i in nl.affine_range(3):
                    for j in nl.affine_range(3):
                        scattered = nl.zeros((par_dim(128), height + 2, width + 2), dtype=x.dtype)
                        scattered[t.p, 2 * t.x + i, 2 * t.y + j] = nl.multiply(
                            grads, chosen[t.p, t.x, t.y, i, j], dtype=x.dtype
                        )
                        nl.store(
                            parts[i, j, 0:128, 0:height, 0:width], value=scattered[0:128, 1 : height + 1, 1 : width + 1]
                        )
                total = nl.zeros((par_dim(128), height, width), dtype=x.dtype, name="total")
                for i in nl.affine_range(3):
                    for j in nl.affine_range(3):
                        total += nl.load(parts[i, j, 0:128, 0:height, 0:width])
                for half in nl.affine_range(2):
                    nl.store(
                        out[2 * pair + half, 0:64, 0:height, 0:width],
                        value=total[(half * 64) : ((half + 1) * 64), 0:height, 0:width],
                    )
            return out

        x, grad = draw(2, 64, 7, 7), draw(2, 64, 4, 4)
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=np.finfo(np.float32).min)
        want = np.zeros_like(padded)
        for r in range(4):
            for c in range(4):
                window = padded[:, :, 2 * r : 2 * r + 3, 2 * c : 2 * c + 3].reshape(2, 64, 9)
                place = window.argmax(-1)
                for n in range(2):
                    for ch in range(64):
                        want[n, ch, 2 * r + place[n, ch] // 3, 2 * c + place[n, ch] % 3] += grad[n, ch, r, c]
        close(nki.simulate_kernel(kernel, x, grad), want[:, :, 1:8, 1:8], 1e-5)

    def test_an_image_is_resized_by_a_map_that_numpy_computes(self):
        @nki.jit
        def kernel(x, shape):
            batch, height, width, channels = x.shape
            out = nl.ndarray(shape, dtype=x.dtype, buffer=nl.shared_hbm)
            rows = np.floor(np.arange(shape[1]) * (height / shape[1])).astype(np.int32)
            columns = np.floor(np.arange(shape[2]) * (width / shape[2])).astype(np.int32)
            places = (rows[:, None] * width + columns[None, :]).flatten()
            source, target = x.reshape(shape=(batch, height * width, channels)), out.reshape(
                shape=(batch, shape[1] * shape[2], channels)
            )
            b, c = nl.mgrid[0:batch, 0:channels]
            for i in nl.static_range(len(places)):
                nl.store(target[b, i, c], value=nl.load(source[b, places[i], c]))
            return out

        x = draw(3, 4, 5, 6)
        got = nki.simulate_kernel(kernel, x, (3, 7, 8, 6))
        close(
            got, x[:, np.floor(np.arange(7) * 4 / 7).astype(int)][:, :, np.floor(np.arange(8) * 5 / 8).astype(int)], 0
        )

    def test_direct_allocation_with_double_buffers(self):
        import neuronxcc.nki.compiler as ncc

        @nki.jit
        def kernel(x, w):
            rows, width = x.shape
            out = nl.ndarray((rows, w.shape[1]), dtype=x.dtype, buffer=nl.shared_hbm)
            identity = nl.shared_constant(np.identity(n=128, dtype=np.int8), dtype=x.dtype)
            q, n = nl.mgrid[0:128, 0:128], nl.mgrid[0:128, 0 : w.shape[1]]
            eye = nl.ndarray((par_dim(128), 128), dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=0))
            eye[q.p, q.x] = nl.load(identity, dtype=x.dtype)
            zero = nl.ndarray((par_dim(128), 1), dtype=np.float32, buffer=ncc.sbuf.mod_alloc(base_addr=512))
            zero[...] = 0
            weights = nl.ndarray(
                (width // 128, par_dim(128), w.shape[1]),
                dtype=w.dtype,
                buffer=ncc.sbuf.mod_alloc(base_addr=1024, num_free_tiles=(width // 128,)),
            )
            for m in nl.affine_range(width // 128):
                weights[m, n.p, n.x] = nl.load(w[m * 128 + n.p, n.x], mask=(m * 128 + n.p < width))
            for i in nl.affine_range(rows // 256):
                buffers = nl.ndarray(
                    (2, par_dim(128), width),
                    dtype=x.dtype,
                    buffer=ncc.sbuf.mod_alloc(base_addr=8192, num_free_tiles=(2,)),
                )
                for k in nl.affine_range(2):
                    buffers[k] = nl.load(x[(2 * i + k) * 128 + nl.arange(128)[:, None], nl.arange(width)[None, :]])
                    total = nl.ndarray((par_dim(128), 1), dtype=np.float32, buffer=ncc.sbuf.mod_alloc(base_addr=16384))
                    squares = nl.ndarray(
                        (par_dim(128), width), dtype=np.float32, buffer=ncc.sbuf.mod_alloc(base_addr=17000)
                    )
                    squares[...] = nisa.activation_reduce(
                        op=nl.square, data=buffers[k], reduce_op=np.add, reduce_res=total[...], bias=zero[...]
                    )
                    total[...] = nisa.tensor_scalar(total[...], np.multiply, 1 / width, op1=np.add, operand1=1e-6)
                    total[...] = nisa.activation(op=nl.rsqrt, data=total[...], bias=zero[...])
                    normed = nl.ndarray(
                        (par_dim(128), width), dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=20000)
                    )
                    turned = nl.ndarray(
                        (width // 128, par_dim(128), 128),
                        dtype=np.float32,
                        buffer=ncc.psum.mod_alloc(base_bank=0, num_bank_tiles=(1,)),
                    )
                    normed[...] = nl.multiply(buffers[k], total[...], dtype=x.dtype)
                    for m in nl.affine_range(width // 128):
                        turned[m, q.p, q.x] = nisa.nc_matmul(normed[q.p, m * 128 + q.x], eye[...], is_transpose=True)
                        normed[q.p, m * 128 + q.x] = nl.copy(turned[m], dtype=x.dtype)
                    result = nl.ndarray(
                        (1, par_dim(128), w.shape[1]),
                        dtype=nl.float32,
                        buffer=ncc.psum.mod_alloc(base_bank=7, num_bank_tiles=(1,)),
                    )
                    for m in nl.affine_range(width // 128):
                        result[0] += nisa.nc_matmul(normed[q.p, m * 128 + q.x], weights[m, n.p, n.x])
                    done = nl.ndarray(
                        (par_dim(128), w.shape[1]), dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=24000)
                    )
                    done[...] = nl.copy(result[0], dtype=x.dtype)
                    nl.store(out[(2 * i + k) * 128 + n.p, n.x], value=done, mask=((2 * i + k) * 128 + n.p < rows))
            return out

        x, w = draw(256, 256), draw(256, 64)
        close(nki.simulate_kernel(kernel, x, w), (x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6)) @ w, 1e-3)


if __name__ == "__main__":
    unittest.main()
