"""x + silu(x @ weight^T + bias); the bias enters PSUM as a product of a column of ones with the bias row."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight, bias):
    batch, tokens, width = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    w_t = nl.load_transpose2d(weight)
    row = nl.load(bias.reshape((1, width)))
    ones = nl.ones((1, tokens), dtype=nl.float32, buffer=nl.sbuf)
    for b in nl.affine_range(batch):
        tile = nl.load(x[b])
        turned = nl.copy(nisa.nc_transpose(tile))
        acc = nl.zeros((tokens, width), dtype=nl.float32, buffer=nl.psum)
        acc += nisa.nc_matmul(ones, row)
        acc += nisa.nc_matmul(turned, w_t)
        nl.store(out[b], value=nl.add(tile, nl.silu(acc)))
    return out
