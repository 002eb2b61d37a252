"""cos(t) is sin(t + pi/2) brought back into the table's range: 1 - 2 sin(t/2)^2."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, angle):
    batch, heads, tokens, depth = x.shape
    half = depth // 2
    out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    turn = nl.load(angle)
    sine = nisa.activation(op=nl.sin, data=turn, scale=3.0)
    low = nl.square(nisa.activation(op=nl.sin, data=turn, scale=1.5))
    cosine = nisa.tensor_scalar(low, op0=np.multiply, operand0=-2.0, op1=np.add, operand1=1.0)
    for b in nl.affine_range(batch):
        for h in nl.affine_range(heads):
            first = nl.load(x[b, h, 0:tokens, 0:half], dtype=nl.float32)
            second = nl.load(x[b, h, 0:tokens, half:depth], dtype=nl.float32)
            turned = nl.subtract(nl.multiply(first, cosine), nl.multiply(second, sine))
            nl.store(out[b, h, 0:tokens, 0:half], value=turned)
            turned = nl.add(nl.multiply(first, sine), nl.multiply(second, cosine))
            nl.store(out[b, h, 0:tokens, half:depth], value=turned)
    return out
