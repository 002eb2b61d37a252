"""With s = x where the label is 1 and -x where it is 0: sigmoid(-s)^2 * softplus(-s)."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(score, target):
    rows, cols = score.shape
    out = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    for t in nl.affine_range(2):
        piece = nl.ds(t * 100, 100)
        x = nl.load(score[piece, 0:cols])
        flip = nisa.tensor_scalar(
            nl.load(target[piece, 0:cols], dtype=nl.float32), op0=np.multiply, operand0=-2.0, op1=np.add, operand1=1.0
        )
        wrong = nl.multiply(x, flip)
        loss = nl.multiply(nl.square(nl.sigmoid(wrong)), nl.softplus(wrong))
        nl.store(out[piece, 0:1], value=nl.mean(loss, axis=1, keepdims=True))
    return out
