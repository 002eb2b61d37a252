"""The first product takes bfloat16 operands; the hidden layer stays in float32, so the second weight is widened."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, up, down):
    batch, tokens, width = x.shape
    hidden, half = up.shape[0], 96
    out = nl.ndarray((batch, tokens, width), dtype=nl.float32, buffer=nl.shared_hbm)
    for b in nl.affine_range(batch):
        x_t = nl.load_transpose2d(x[b, 0:tokens, 0:width])
        acc = nl.zeros((tokens, width), dtype=nl.float32, buffer=nl.psum)
        for h in nl.affine_range(hidden // half):
            up_t = nl.load_transpose2d(up[nl.ds(h * half, half), 0:width])
            active = nisa.activation(op=nl.gelu, data=nisa.nc_matmul(up_t, x_t))
            down_t = nl.load_transpose2d(down[0:width, nl.ds(h * half, half)], dtype=nl.float32)
            acc += nisa.nc_matmul(active, down_t)
        nl.store(out[b], value=nl.copy(acc))
    return out
