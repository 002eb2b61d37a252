"""x @ x^T: the transposed matrix is loaded once and serves as both operands."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    rows, width = x.shape
    half, tile = 90, 125
    out = nl.ndarray((rows, rows), dtype=x.dtype, buffer=nl.shared_hbm)
    turned = nl.ndarray((2, nl.par_dim(half), rows), dtype=nl.float32, buffer=nl.sbuf)
    i_r, i_h = nl.arange(tile)[:, None], nl.arange(half)[None, :]
    j_h, j_r = nl.arange(half)[:, None], nl.arange(tile)[None, :]
    for s in nl.affine_range(2):
        for t in nl.affine_range(2):
            turned[s, j_h, t * tile + j_r] = nl.load_transpose2d(x[t * tile + i_r, s * half + i_h])
    for t in nl.affine_range(2):
        acc = nl.zeros((tile, rows), dtype=nl.float32, buffer=nl.psum)
        for s in nl.affine_range(2):
            acc += nisa.nc_matmul(turned[s, j_h, t * tile + j_r], turned[s])
        nl.store(out[nl.ds(t * tile, tile), 0:rows], value=nl.multiply(acc, width ** -0.5))
    return out
