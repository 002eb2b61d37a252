"""a @ b: 128-row tiles, 128-deep contraction steps into PSUM, 512-wide columns with a ragged last block."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(a, b):
    m, k = a.shape
    n = b.shape[1]
    tile_m, tile_k, tile_n = nl.tile_size.gemm_stationary_fmax, nl.tile_size.pmax, nl.tile_size.gemm_moving_fmax
    out = nl.ndarray((m, n), dtype=a.dtype, buffer=nl.shared_hbm)
    i_k, i_m = nl.mgrid[0:tile_k, 0:tile_m]
    j_m, j_k = nl.mgrid[0:tile_m, 0:tile_k]
    i_kn, i_n = nl.mgrid[0:tile_k, 0:tile_n]
    o_m, o_n = nl.mgrid[0:tile_m, 0:tile_n]

    for mt in nl.affine_range(m // tile_m):
        for nt in nl.affine_range((n + tile_n - 1) // tile_n):
            acc = nl.zeros((tile_m, tile_n), dtype=nl.float32, buffer=nl.psum)
            for kt in nl.affine_range(k // tile_k):
                a_t = nl.load_transpose2d(a[mt * tile_m + j_m, kt * tile_k + j_k])
                b_tile = nl.load(b[kt * tile_k + i_kn, nt * tile_n + i_n], mask=(nt * tile_n + i_n < n))
                acc += nisa.nc_matmul(a_t[i_k, i_m], b_tile)
            result = nl.copy(acc, dtype=nl.float32)
            nl.store(out[mt * tile_m + o_m, nt * tile_n + o_n], value=result, mask=(nt * tile_n + o_n < n))
    return out
