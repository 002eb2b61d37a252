"""relu(x) + alpha * (exp(min(x, 0)) - 1): the exponent is never positive, so nothing overflows."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

ALPHA = 1.5


@nki.jit
def kernel(x):
    rows, cols = x.shape
    out = nl.ndarray((rows, cols), dtype=x.dtype, buffer=nl.shared_hbm)
    i_p = nl.arange(128)[:, None]
    i_f = nl.arange(cols)[None, :]
    for t in nl.affine_range((rows + 127) // 128):
        row = t * 128 + i_p
        tile = nl.load(x[row, i_f], mask=(row < rows))
        power = nl.exp(nl.minimum(tile, 0.0))
        low = nisa.tensor_scalar(power, op0=np.subtract, operand0=1.0, op1=np.multiply, operand1=ALPHA)
        nl.store(out[row, i_f], value=nl.add(nl.relu(tile), low), mask=(row < rows))
    return out
