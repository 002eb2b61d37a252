"""Both states are (hidden, batch) tiles that a sequential loop writes in place; weights are turned once."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, w_input, w_hidden, b_input, b_hidden):
    batch, steps, width = x.shape
    hidden = w_hidden.shape[1]
    last_h = nl.ndarray((batch, hidden), dtype=x.dtype, buffer=nl.shared_hbm)
    last_c = nl.ndarray((batch, hidden), dtype=x.dtype, buffer=nl.shared_hbm)
    fed_w = nl.ndarray((nl.par_dim(width), 4 * hidden), dtype=nl.float32, buffer=nl.sbuf)
    kept_w = nl.ndarray((nl.par_dim(hidden), 4 * hidden), dtype=nl.float32, buffer=nl.sbuf)
    shift = nl.ndarray((nl.par_dim(hidden), 4), dtype=nl.float32, buffer=nl.sbuf)
    for g in nl.affine_range(4):
        block = nl.ds(g * hidden, hidden)
        fed_w[:, block] = nl.load_transpose2d(w_input[block, 0:width])
        kept_w[:, block] = nl.load_transpose2d(w_hidden[block, 0:hidden])
        shift[:, nl.ds(g, 1)] = nl.add(nl.load(b_input[block]), nl.load(b_hidden[block]))
    h = nl.zeros((hidden, batch), dtype=nl.float32, buffer=nl.sbuf)
    c = nl.zeros((hidden, batch), dtype=nl.float32, buffer=nl.sbuf)
    for t in nl.sequential_range(steps):
        x_t = nl.load_transpose2d(x[0:batch, t, 0:width])
        gates = nl.ndarray((4, nl.par_dim(hidden), batch), dtype=nl.float32, buffer=nl.sbuf)
        for g in nl.static_range(4):
            block = nl.ds(g * hidden, hidden)
            acc = nl.zeros((hidden, batch), dtype=nl.float32, buffer=nl.psum)
            acc += nisa.nc_matmul(fed_w[:, block], x_t)
            acc += nisa.nc_matmul(kept_w[:, block], h)
            gates[g] = nisa.activation(op=nl.tanh if g == 2 else nl.sigmoid, data=acc, bias=shift[:, g:g + 1])
        c[...] = nl.add(nl.multiply(gates[1], c), nl.multiply(gates[0], gates[2]))
        h[...] = nl.multiply(gates[3], nl.tanh(c))
    nl.store(last_h, value=nl.copy(nisa.nc_transpose(h)))
    nl.store(last_c, value=nl.copy(nisa.nc_transpose(c)))
    return last_h, last_c
