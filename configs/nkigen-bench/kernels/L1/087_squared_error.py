"""mean((p - t)^2) of each row; square and sum are one pass of the scalar engine."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(prediction, target):
    rows, cols = prediction.shape
    out = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    for t in nl.affine_range(rows // 100):
        piece = nl.ds(t * 100, 100)
        gap = nl.subtract(nl.load(prediction[piece, 0:cols]), nl.load(target[piece, 0:cols]))
        total = nl.zeros((100, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation_reduce(op=nl.square, data=gap, reduce_op=np.add, reduce_res=total, scale=cols ** -0.5)
        nl.store(out[piece, 0:1], value=total)
    return out
