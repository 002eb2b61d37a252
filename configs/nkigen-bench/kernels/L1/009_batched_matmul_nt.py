"""a @ b^T for each batch entry; both operands arrive with the contraction on partitions."""
from neuronxcc import nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(a, b):
    batch, m, k = a.shape
    n = b.shape[1]
    tile_m, tile_k = 75, 100
    out = nl.ndarray((batch, m, n), dtype=nl.float32, buffer=nl.shared_hbm)
    i_m = nl.arange(tile_m)[:, None]
    i_n = nl.arange(n)[:, None]
    i_k = nl.arange(tile_k)[None, :]
    j_n = nl.arange(n)[None, :]

    for e in nl.affine_range(batch):
        for mt in nl.affine_range(m // tile_m):
            acc = nl.zeros((tile_m, n), nl.float32, buffer=nl.psum)
            for kt in nl.affine_range(k // tile_k):
                a_t = nl.load_transpose2d(a[e, mt * tile_m + i_m, kt * tile_k + i_k])
                b_t = nl.load_transpose2d(b[e, i_n, kt * tile_k + i_k])
                acc += nl.matmul(a_t, b_t, transpose_x=True)
            nl.store(out[e, mt * tile_m + i_m, j_n], value=nl.copy(acc, dtype=nl.float32))
    return out
