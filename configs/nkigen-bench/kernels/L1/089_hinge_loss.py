"""mean(relu(1 - sign * score)) of each row; the signs are turned from 0 and 1 into -1 and 1."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(score, sign):
    rows, cols = score.shape
    out = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    for t in nl.affine_range(rows // 128):
        piece = nl.ds(t * 128, 128)
        flags = nl.load(sign[piece, 0:cols], dtype=nl.float32)
        signs = nisa.tensor_scalar(flags, op0=np.multiply, operand0=-2.0, op1=np.add, operand1=1.0)
        margin = nl.multiply(signs, nl.load(score[piece, 0:cols]))
        loss = nl.relu(nl.add(margin, 1.0))
        nl.store(out[piece, 0:1], value=nl.mean(loss, axis=1, keepdims=True))
    return out
