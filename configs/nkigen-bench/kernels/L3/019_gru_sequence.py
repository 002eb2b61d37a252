"""The products with the input of all steps come first, as one wide product a gate; the loop carries a (hidden, batch)
state."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, w_input, w_hidden, b_input, b_hidden):
    batch, steps, width = x.shape
    hidden = w_hidden.shape[1]
    out = nl.ndarray((batch, steps, hidden), dtype=x.dtype, buffer=nl.shared_hbm)
    line = nl.ndarray((nl.par_dim(width), steps, batch), dtype=nl.float32, buffer=nl.sbuf)
    for t in nl.affine_range(steps):
        line[:, t, :] = nl.load_transpose2d(x[0:batch, t, 0:width])
    fed = nl.ndarray((3, nl.par_dim(hidden), steps, batch), dtype=nl.float32, buffer=nl.sbuf)
    kept = nl.ndarray((3, nl.par_dim(hidden), hidden), dtype=nl.float32, buffer=nl.sbuf)
    for g in nl.static_range(3):
        block = nl.ds(g * hidden, hidden)
        product = nisa.nc_matmul(nl.load_transpose2d(w_input[block, 0:width]), line)
        fed[g] = nisa.tensor_scalar(product, op0=np.add, operand0=nl.load(b_input[block]))
        kept[g] = nl.load_transpose2d(w_hidden[block, 0:hidden])
    state = nl.zeros((hidden, batch), dtype=nl.float32, buffer=nl.sbuf)
    for t in nl.sequential_range(steps):
        past = nl.ndarray((3, nl.par_dim(hidden), batch), dtype=nl.float32, buffer=nl.sbuf)
        for g in nl.static_range(3):
            past[g] = nl.add(nisa.nc_matmul(kept[g], state), nl.load(b_hidden[nl.ds(g * hidden, hidden)]))
        reset = nl.sigmoid(nl.add(fed[0, :, t, :], past[0]))
        update = nl.sigmoid(nl.add(fed[1, :, t, :], past[1]))
        candidate = nl.tanh(nl.add(fed[2, :, t, :], nl.multiply(reset, past[2])))
        state[...] = nl.add(candidate, nl.multiply(update, nl.subtract(state, candidate)))
        nl.store(out[0:batch, t, 0:hidden], value=nl.copy(nisa.nc_transpose(state)))
    return out
