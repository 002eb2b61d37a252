"""x/2 * (1 + tanh(c * (x + 0.044715 x^3))), spelt out in float32."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

C = 0.7978845608028654


@nki.jit
def kernel(x):
    batch, rows, cols = x.shape
    out = nl.ndarray((batch, rows, cols), dtype=nl.float32, buffer=nl.shared_hbm)
    for b in nl.affine_range(batch):
        tile = nl.load(x[b], dtype=nl.float32)
        square = nl.multiply(tile, tile)
        inner = nisa.tensor_scalar(square, op0=np.multiply, operand0=0.044715 * C, op1=np.add, operand1=C)
        bend = nl.tanh(nl.multiply(inner, tile))
        half = nl.multiply(tile, 0.5)
        nl.store(out[b], value=nl.add(half, nl.multiply(half, bend)))
    return out
