"""One SPMD instance a batch entry."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

GRID = (4,)


@nki.jit
def kernel(a, b):
    batch, m, k = a.shape
    n = b.shape[2]
    out = nl.ndarray((batch, m, n), dtype=a.dtype, buffer=nl.shared_hbm)
    e = nl.program_id(0)
    left = nl.load_transpose2d(a[e, 0:m, 0:k])
    product = nisa.nc_matmul(left, nl.load(b[e, 0:k, 0:n]))
    nl.store(out[e, 0:m, 0:n], value=nl.gelu(product))
    return out
