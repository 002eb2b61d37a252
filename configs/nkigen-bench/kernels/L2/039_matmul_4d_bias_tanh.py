"""The bias row of a head joins the sum in PSUM as a product with a row of ones."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(a, b, bias):
    batch, heads, m, k = a.shape
    n = b.shape[3]
    out = nl.ndarray((batch, heads, m, n), dtype=a.dtype, buffer=nl.shared_hbm)
    ones = nl.ones((1, m), dtype=nl.float32, buffer=nl.sbuf)
    for h in nl.affine_range(heads):
        row = nl.load(bias[h])
        for e in nl.affine_range(batch):
            acc = nl.zeros((m, n), dtype=nl.float32, buffer=nl.psum)
            acc += nisa.nc_matmul(nl.load_transpose2d(a[e, h, 0:m, 0:k]), nl.load(b[e, h]))
            acc += nisa.nc_matmul(ones, row)
            nl.store(out[e, h], value=nl.tanh(acc))
    return out
