"""One weight holds both halves: 160 features of values, then 160 of gates."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight):
    batch, tokens, width = x.shape
    hidden = weight.shape[0] // 2
    out = nl.ndarray((batch, tokens, hidden), dtype=nl.float32, buffer=nl.shared_hbm)
    turned = nl.ndarray((nl.par_dim(width), 2 * hidden), dtype=weight.dtype, buffer=nl.sbuf)
    for f in nl.affine_range(4):
        turned[:, nl.ds(f * 80, 80)] = nl.load_transpose2d(weight[nl.ds(f * 80, 80), 0:width])
    for b in nl.affine_range(batch):
        x_t = nl.load_transpose2d(x[b, 0:tokens, 0:width])
        both = nl.copy(nisa.nc_matmul(x_t, turned), dtype=nl.float32)
        gate = nl.gelu(both[:, hidden:2 * hidden])
        nl.store(out[b], value=nl.multiply(both[:, 0:hidden], gate))
    return out
