"""Codes become float32 on load; the scales of the columns are applied to the product."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, code, scale):
    rows, width = x.shape
    features, step = code.shape[1], 80
    out = nl.ndarray((rows, features), dtype=x.dtype, buffer=nl.shared_hbm)
    factor = nl.load(scale.reshape((1, features))).broadcast_to((rows, features))
    acc = nl.zeros((rows, features), dtype=nl.float32, buffer=nl.psum)
    for s in nl.affine_range(width // step):
        raw = nl.load(code[nl.ds(s * step, step), 0:features], dtype=nl.float32)
        weight = nl.subtract(raw, 128.0)
        acc += nisa.nc_matmul(nl.load_transpose2d(x[0:rows, nl.ds(s * step, step)]), weight)
    nl.store(out, value=nl.multiply(acc, factor))
    return out
