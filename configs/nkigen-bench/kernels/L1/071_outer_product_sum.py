"""A product with a contraction of 12: one step, three row tiles."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(u, v):
    terms, rows = u.shape
    cols = v.shape[1]
    out = nl.ndarray((rows, cols), dtype=u.dtype, buffer=nl.shared_hbm)
    left, right = nl.load(u), nl.load(v)
    for t in nl.affine_range(rows // 70):
        product = nisa.nc_matmul(left[0:terms, nl.ds(t * 70, 70)], right)
        nl.store(out[nl.ds(t * 70, 70), 0:cols], value=nl.copy(product, dtype=nl.float32))
    return out
