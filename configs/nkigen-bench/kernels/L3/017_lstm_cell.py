"""Four gates, each two products with features on partitions; both biases are one number a partition."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, h, c, w_input, w_hidden, b_input, b_hidden):
    rows, width = x.shape
    hidden, tile = h.shape[1], 65
    new_h = nl.ndarray((rows, hidden), dtype=x.dtype, buffer=nl.shared_hbm)
    new_c = nl.ndarray((rows, hidden), dtype=x.dtype, buffer=nl.shared_hbm)
    for t in nl.affine_range(rows // tile):
        piece = nl.ds(t * tile, tile)
        x_t, h_t = nl.load_transpose2d(x[piece, 0:width]), nl.load_transpose2d(h[piece, 0:hidden])
        gates = []
        for g, function in enumerate((nl.sigmoid, nl.sigmoid, nl.tanh, nl.sigmoid)):
            block = nl.ds(g * hidden, hidden)
            acc = nl.zeros((hidden, tile), dtype=nl.float32, buffer=nl.psum)
            acc += nisa.nc_matmul(nl.load_transpose2d(w_input[block, 0:width]), x_t)
            acc += nisa.nc_matmul(nl.load_transpose2d(w_hidden[block, 0:hidden]), h_t)
            shift = nl.add(nl.load(b_input[block]), nl.load(b_hidden[block]))
            gates.append(nisa.activation(op=function, data=acc, bias=shift))
        c_t = nl.load_transpose2d(c[piece, 0:hidden])
        cell = nl.add(nl.multiply(gates[1], c_t), nl.multiply(gates[0], gates[2]))
        state = nl.multiply(gates[3], nl.tanh(cell))
        nl.store(new_h[piece, 0:hidden], value=nl.copy(nisa.nc_transpose(state)))
        nl.store(new_c[piece, 0:hidden], value=nl.copy(nisa.nc_transpose(cell)))
    return new_h, new_c
