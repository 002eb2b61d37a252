"""|x - y| of a 3-D tensor: the two leading axes are one axis of rows."""
from neuronxcc import nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, y):
    batch, rows, cols = x.shape
    total = batch * rows
    a, b = x.reshape((total, cols)), y.reshape((total, cols))
    out = nl.ndarray((batch, rows, cols), dtype=x.dtype, buffer=nl.shared_hbm)
    flat = out.reshape((total, cols))
    i_p, i_f = nl.mgrid[0:128, 0:cols]
    for t in nl.affine_range((total + 127) // 128):
        inside = t * 128 + i_p < total
        left = nl.load(a[t * 128 + i_p, i_f], mask=inside)
        right = nl.load(b[t * 128 + i_p, i_f], mask=inside)
        nl.store(flat[t * 128 + i_p, i_f], value=nl.abs(left - right), mask=inside)
    return out
