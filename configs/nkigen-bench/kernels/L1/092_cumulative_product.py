"""The vector engine's scan: state * x + 0."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    batch, rows, length = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    zeros = nl.zeros((rows, length), dtype=nl.float32, buffer=nl.sbuf)
    for b in nl.affine_range(batch):
        product = nisa.tensor_tensor_scan(nl.load(x[b]), zeros, initial=1.0, op0=np.multiply, op1=np.add)
        nl.store(out[b], value=product)
    return out
