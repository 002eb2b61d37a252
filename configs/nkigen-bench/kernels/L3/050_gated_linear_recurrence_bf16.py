"""Hidden features on partitions, tokens along the free axis: the recurrence is one scan, and its result the stationary
operand."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, value, keep, keep_bias, gate, back):
    batch, tokens, width = x.shape
    hidden = value.shape[0]
    out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    value_t, keep_t = nl.load_transpose2d(value), nl.load_transpose2d(keep)
    gate_t, back_t = nl.load_transpose2d(gate), nl.load_transpose2d(back)
    shift = nl.add(nl.load(keep_bias[nl.ds(0, hidden)]), 1.0)
    for b in nl.affine_range(batch):
        x_t = nl.load_transpose2d(x[b, 0:tokens, 0:width], dtype=nl.float32)
        kept = nisa.activation(op=nl.sigmoid, data=nisa.nc_matmul(keep_t, x_t), bias=shift)
        room = nl.sqrt(nisa.tensor_scalar(nl.square(kept), op0=np.multiply, operand0=-1.0, op1=np.add, operand1=1.0))
        fed = nl.multiply(nisa.nc_matmul(value_t, x_t), room)
        state = nisa.tensor_tensor_scan(kept, fed, initial=0.0, op0=np.multiply, op1=np.add)
        opened = nl.gelu(nisa.nc_matmul(gate_t, x_t))
        nl.store(out[b], value=nl.copy(nisa.nc_matmul(nl.multiply(state, opened), back_t)))
    return out
