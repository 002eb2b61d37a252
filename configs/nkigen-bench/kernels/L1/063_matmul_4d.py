"""One product a (batch, head) pair: an SPMD instance each."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

GRID = (2, 4)


@nki.jit
def kernel(a, b):
    batch, heads, m, k = a.shape
    n = b.shape[3]
    out = nl.ndarray((batch, heads, m, n), dtype=a.dtype, buffer=nl.shared_hbm)
    e, h = nl.program_id(0), nl.program_id(1)
    i_m, i_k = nl.arange(m)[:, None], nl.arange(k)[None, :]
    j_k, j_n = nl.arange(k)[:, None], nl.arange(n)[None, :]
    left = nl.load_transpose2d(a[e, h, i_m, i_k])
    right = nl.load(b[e, h, j_k, j_n])
    nl.store(out[e, h, i_m, j_n], value=nl.copy(nisa.nc_matmul(left, right), dtype=nl.float32))
    return out
