"""One contiguous load of the pairs; the two parts are views with a stride of two on chip."""
from neuronxcc import nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, y):
    batch, rows, pairs, _ = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for b in nl.affine_range(batch):
        a, c = nl.load(x[b]), nl.load(y[b])
        result = nl.ndarray((rows, pairs, 2), dtype=nl.float32, buffer=nl.sbuf)
        a_re, a_im, c_re, c_im = a[:, :, 0], a[:, :, 1], c[:, :, 0], c[:, :, 1]
        result[:, :, 0] = nl.subtract(nl.multiply(a_re, c_re), nl.multiply(a_im, c_im))
        result[:, :, 1] = nl.add(nl.multiply(a_re, c_im), nl.multiply(a_im, c_re))
        nl.store(out[b], value=result)
    return out
