"""A flash attention the way the vendor writes one."""

import unittest

import numpy as np

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
from neuronxcc.nki.language import par_dim

RNG = np.random.default_rng(23)


def draw(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def close(got, want, tol):
    assert got.shape == want.shape, (got.shape, want.shape)
    np.testing.assert_allclose(got, want, rtol=tol, atol=tol)


@nki.jit(mode="trace")
def attend(q_tile, k_tile, v_tile, acc, total, place, block, keep_rate, seed, rate):
    """One block of keys: unnormalised weights into acc and total (views of the caller's block tensors)."""
    scores = nl.ndarray((par_dim(128), 128), dtype=np.float32, buffer=nl.psum)
    needed = place * 128 + 127 >= block * 128
    if needed:
        scores[:, :] = nl.matmul(q_tile, k_tile, transpose_x=True)
    else:
        scores[:, :] = 0
    p, f = nl.mgrid[0:128, 0:128]
    masked = nisa.affine_select(
        pred=place * 128 + p >= block * 128 + f, on_true_tile=nl.copy(scores), on_false_value=nl.fp32.min
    )
    weights = nl.ndarray((par_dim(128), 128), dtype=np.float32)
    weights[:, :] = nl.exp(masked)
    total[:, 0] = nl.add(total[:, 0], nl.sum(weights, axis=1))
    if keep_rate < 1.0:
        nl.random_seed(seed=nl.add(seed, block + 10 * place, dtype=nl.int32))
        weights[:, :] = nl.multiply(nl.dropout(weights[:, :], rate=rate[:, 0]), 1 / keep_rate)
    acc[:, :] = nl.add(acc[:, :], nl.matmul(nl.copy(nisa.nc_transpose(weights)), v_tile, transpose_x=True))


class Attention(unittest.TestCase):
    """Sub-kernels that write into views, conditions joined with plain booleans, views of views in HBM, seeded
    dropout."""

    @staticmethod
    @nki.jit
    def kernel(q, k, v, seed, keep_rate=1.0, window=-1):
        batch, heads, width, length = q.shape
        out = nl.ndarray((batch, heads, length, width), dtype=q.dtype, buffer=nl.shared_hbm)
        assert nl.program_ndim() == 2 and nl.num_programs(1) == heads
        n, h = nl.program_id(axis=0), nl.program_id(axis=1)
        tiles = length // 128
        mixed = np.dtype(np.float32) if q.dtype == nl.float32 else q.dtype
        if keep_rate < 1.0:
            seed_tile, rate = nl.load(seed[0]), nl.full((128, 1), fill_value=1 - keep_rate, dtype=np.float32)
        else:
            seed_tile = rate = None
        q_view, v_view = q[n, h], v[n, h]
        accs = nl.zeros((tiles, par_dim(128), width), dtype=mixed)
        totals = nl.zeros((par_dim(128), tiles), dtype=mixed)
        for j in nl.sequential_range(tiles):
            k_tile, v_tile = nl.ndarray((par_dim(width), 128), dtype=k.dtype), nl.load(v_view[nl.ds(j * 128, 128), :])
            k_tile[:, :] = nl.load(k[n, h, :, nl.ds(j * 128, 128)])
            for i in nl.affine_range(tiles + 1):
                inside = True if window < 0 else j * 128 > i * 128 - window
                if (i < tiles) & (i >= j) & inside:
                    q_tile = nl.ndarray((width, 128), dtype=q.dtype)
                    q_tile[:, :] = nl.load(q_view[:, nl.ds(i * 128, 128)], dtype=q.dtype) * (1.0 / width**0.5)
                    attend(
                        q_tile=q_tile,
                        k_tile=k_tile,
                        v_tile=v_tile,
                        acc=accs[i],
                        total=totals[:, i],
                        place=i,
                        block=j,
                        keep_rate=keep_rate,
                        seed=seed_tile,
                        rate=rate,
                    )
        for i in nl.affine_range(tiles):
            nl.store(out[n, h, nl.ds(i * 128, 128), :], nl.divide(accs[i, :, :], totals[:, i], dtype=q.dtype))
        return out

    def weights(self, q, k, length):
        s = np.einsum("nhdi,nhdj->nhij", q, k) / np.sqrt(q.shape[2])
        e = np.where(np.tril(np.ones((length, length), bool)), np.exp(s), 0)
        return e, e.sum(-1, keepdims=True)

    def test_causal(self):
        q, k, v = draw(1, 2, 32, 256), draw(1, 2, 32, 256), draw(1, 2, 256, 32)
        e, total = self.weights(q, k, 256)
        close(nki.simulate_kernel(self.kernel[1, 2], q, k, v, np.array([7], np.int32)), (e / total) @ v, 1e-3)

    def test_blocks_outside_of_the_window_are_skipped(self):
        q, k, v = draw(1, 1, 32, 384), draw(1, 1, 32, 384), draw(1, 1, 384, 32)
        e, _ = self.weights(q, k, 384)
        i, j = np.arange(384)[:, None] // 128, np.arange(384)[None, :] // 128
        e = np.where(j * 128 > i * 128 - 200, e, 0)
        close(
            nki.simulate_kernel(self.kernel[1, 1], q, k, v, np.array([7], np.int32), window=200),
            (e / e.sum(-1, keepdims=True)) @ v,
            1e-3,
        )

    def test_dropout_is_unbiased_and_repeats_with_its_seed(self):
        q, k = draw(1, 1, 32, 256), draw(1, 1, 32, 256)
        v = np.ones((1, 1, 256, 32), np.float32)
        first, again, other = (
            nki.simulate_kernel(self.kernel[1, 1], q, k, v, np.array([s], np.int32), keep_rate=0.75) for s in (7, 7, 8)
        )
        self.assertTrue(np.array_equal(first, again))
        self.assertGreater((first != other).mean(), 0.5)
        self.assertAlmostEqual(first[0, 0, 64:].mean(), 1, delta=0.05)


if __name__ == "__main__":
    unittest.main()
