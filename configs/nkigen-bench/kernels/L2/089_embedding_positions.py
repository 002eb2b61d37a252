"""A gathering load by token number, then one three-operand instruction."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(token, position, table):
    batch, tokens = token.shape
    width = table.shape[1]
    out = nl.ndarray((batch, tokens, width), dtype=nl.float32, buffer=nl.shared_hbm)
    column = token.reshape((batch, tokens, 1))
    places = nl.load(position)
    i_p, i_f = nl.arange(tokens)[:, None], nl.arange(width)[None, :]
    for b in nl.affine_range(batch):
        number = nl.load(column[b])
        rows = nl.load(table[number[i_p, 0], i_f])
        total = nisa.scalar_tensor_tensor(data=rows, op0=np.multiply, operand0=0.5, op1=np.add, operand1=places)
        nl.store(out[b], value=total)
    return out
