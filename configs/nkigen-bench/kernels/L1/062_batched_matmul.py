"""a @ b for each batch entry, the contraction in two steps of 65."""
from neuronxcc import nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(a, b):
    batch, m, k = a.shape
    n = b.shape[2]
    step = 65
    out = nl.ndarray((batch, m, n), dtype=a.dtype, buffer=nl.shared_hbm)
    for e in nl.affine_range(batch):
        acc = nl.zeros((m, n), dtype=nl.float32, buffer=nl.psum)
        for kt in nl.affine_range(k // step):
            left = nl.load(a[e, 0:m, nl.ds(kt * step, step)])
            right = nl.load(b[e, nl.ds(kt * step, step), 0:n])
            acc += nl.matmul(left, right)
        nl.store(out[e], value=nl.copy(acc, dtype=nl.float32))
    return out
