"""The shared operand is loaded once, in two blocks of 96 rows."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(a, b):
    batch, rows, k = a.shape
    n = b.shape[1]
    step = 96
    out = nl.ndarray((batch, rows, n), dtype=nl.float32, buffer=nl.shared_hbm)
    shared = nl.ndarray((k // step, nl.par_dim(step), n), dtype=b.dtype, buffer=nl.sbuf)
    for s in nl.affine_range(k // step):
        shared[s] = nl.load(b[nl.ds(s * step, step), 0:n])
    for e in nl.affine_range(batch):
        acc = nl.zeros((rows, n), dtype=nl.float32, buffer=nl.psum)
        for s in nl.affine_range(k // step):
            acc += nisa.nc_matmul(nl.load_transpose2d(a[e, 0:rows, nl.ds(s * step, step)]), shared[s])
        nl.store(out[e], value=nl.copy(acc, dtype=nl.float32))
    return out
