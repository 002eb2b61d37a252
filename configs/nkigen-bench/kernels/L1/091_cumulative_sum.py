"""The vector engine's scan: state * 1 + x."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    rows, length = x.shape
    out = nl.ndarray((rows, length), dtype=x.dtype, buffer=nl.shared_hbm)
    ones = nl.ones((100, length), dtype=nl.float32, buffer=nl.sbuf)
    for t in nl.affine_range(rows // 100):
        tile = nl.load(x[nl.ds(t * 100, 100), 0:length])
        total = nisa.tensor_tensor_scan(ones, tile, initial=0.0, op0=np.multiply, op1=np.add)
        nl.store(out[nl.ds(t * 100, 100), 0:length], value=total)
    return out
