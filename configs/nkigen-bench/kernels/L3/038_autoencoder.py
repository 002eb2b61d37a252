"""All layers with features on partitions, so no turn between them: the only two are at the stores."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, w_1, b_1, w_2, b_2, w_3, b_3, w_4, b_4):
    rows, width = x.shape
    code_width, tile = w_2.shape[0], 90
    again = nl.ndarray((rows, width), dtype=x.dtype, buffer=nl.shared_hbm)
    codes = nl.ndarray((rows, code_width), dtype=x.dtype, buffer=nl.shared_hbm)
    layers = []
    for weight, bias in ((w_1, b_1), (w_2, b_2), (w_3, b_3), (w_4, b_4)):
        layers.append((nl.load_transpose2d(weight), nl.load(bias[nl.ds(0, weight.shape[0])])))
    for t in nl.affine_range(rows // tile):
        piece = nl.ds(t * tile, tile)
        state = nl.load_transpose2d(x[piece, 0:width])
        for number, (turned, shift) in enumerate(layers):
            state = nl.add(nisa.nc_matmul(turned, state), shift)
            if number in (0, 2):
                state = nl.relu(state)
            if number == 1:
                nl.store(codes[piece, 0:code_width], value=nl.copy(nisa.nc_transpose(state)))
        nl.store(again[piece, 0:width], value=nl.copy(nisa.nc_transpose(state)))
    return again, codes
