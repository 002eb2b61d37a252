"""Reset and update gates from summed products; the candidate needs its two products apart."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, h, w_input, w_hidden, b_input, b_hidden):
    rows, width = x.shape
    hidden = h.shape[1]
    out = nl.ndarray((rows, hidden), dtype=x.dtype, buffer=nl.shared_hbm)
    x_t, h_t = nl.load_transpose2d(x), nl.load_transpose2d(h)
    gates = []
    for g in nl.static_range(2):
        block = nl.ds(g * hidden, hidden)
        acc = nl.zeros((hidden, rows), dtype=nl.float32, buffer=nl.psum)
        acc += nisa.nc_matmul(nl.load_transpose2d(w_input[block, 0:width]), x_t)
        acc += nisa.nc_matmul(nl.load_transpose2d(w_hidden[block, 0:hidden]), h_t)
        gates.append(nl.sigmoid(nl.add(acc, nl.add(nl.load(b_input[block]), nl.load(b_hidden[block])))))
    last = nl.ds(2 * hidden, hidden)
    fresh = nl.add(nisa.nc_matmul(nl.load_transpose2d(w_input[last, 0:width]), x_t), nl.load(b_input[last]))
    past = nl.add(nisa.nc_matmul(nl.load_transpose2d(w_hidden[last, 0:hidden]), h_t), nl.load(b_hidden[last]))
    candidate = nl.tanh(nl.add(fresh, nl.multiply(gates[0], past)))
    state = nl.add(candidate, nl.multiply(gates[1], nl.subtract(h_t, candidate)))
    nl.store(out, value=nl.copy(nisa.nc_transpose(state)))
    return out
