"""Two results from one turned input; each head has its weight as the moving operand."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, mean_weight, mean_bias, spread_weight, spread_bias):
    rows, width = x.shape
    first, second, tile = mean_weight.shape[0], spread_weight.shape[0], 85
    mean = nl.ndarray((rows, first), dtype=x.dtype, buffer=nl.shared_hbm)
    spread = nl.ndarray((rows, second), dtype=x.dtype, buffer=nl.shared_hbm)
    mean_t, spread_t = nl.load_transpose2d(mean_weight), nl.load_transpose2d(spread_weight)
    mean_offset = nl.load(mean_bias.reshape((1, first))).broadcast_to((tile, first))
    spread_offset = nl.load(spread_bias.reshape((1, second))).broadcast_to((tile, second))
    for t in nl.affine_range(rows // tile):
        piece = nl.ds(t * tile, tile)
        turned = nl.load_transpose2d(x[piece, 0:width])
        nl.store(mean[piece, 0:first], value=nl.add(nisa.nc_matmul(turned, mean_t), mean_offset))
        raw = nl.add(nisa.nc_matmul(turned, spread_t), spread_offset)
        nl.store(spread[piece, 0:second], value=nl.softplus(raw))
    return mean, spread
