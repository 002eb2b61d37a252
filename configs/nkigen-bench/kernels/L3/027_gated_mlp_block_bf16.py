"""The scale of a row commutes with the products, so these take the bfloat16 rows as they are and the scale follows in
float32."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

EPS = 1e-6


@nki.jit
def kernel(x, gate, up, down):
    batch, tokens, width = x.shape
    hidden, half = gate.shape[0], 128
    out = nl.ndarray((batch, tokens, width), dtype=nl.float32, buffer=nl.shared_hbm)
    for b in nl.affine_range(batch):
        tile = nl.load(x[b], dtype=nl.float32)
        scale = nl.rsqrt(nl.mean(nl.square(tile), axis=1, keepdims=True) + EPS)
        x_t = nl.load_transpose2d(x[b, 0:tokens, 0:width])
        fed = nl.zeros((tokens, width), dtype=nl.float32, buffer=nl.psum)
        for s in nl.affine_range(hidden // half):
            piece = nl.ds(s * half, half)
            opened = nl.multiply(nisa.nc_matmul(x_t, nl.load_transpose2d(gate[piece, 0:width])), scale)
            grown = nl.multiply(nisa.nc_matmul(x_t, nl.load_transpose2d(up[piece, 0:width])), scale)
            gated_t = nl.copy(nisa.nc_transpose(nl.multiply(nl.silu(opened), grown)))
            fed += nisa.nc_matmul(gated_t, nl.load_transpose2d(down[0:width, piece], dtype=nl.float32))
        nl.store(out[b], value=nl.add(tile, fed))
    return out
