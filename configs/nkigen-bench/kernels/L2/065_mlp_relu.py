"""The hidden layer lives with features on partitions, so it is the stationary operand of the second product."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, up, up_bias, down, down_bias):
    rows, width = x.shape
    hidden, features, tile = up.shape[0], down.shape[0], 75
    out = nl.ndarray((rows, features), dtype=x.dtype, buffer=nl.shared_hbm)
    offset = nl.load(down_bias.reshape((1, features))).broadcast_to((tile, features))
    for t in nl.affine_range(rows // tile):
        x_t = nl.load_transpose2d(x[nl.ds(t * tile, tile), 0:width])
        acc = nl.zeros((tile, features), dtype=nl.float32, buffer=nl.psum)
        for h in nl.affine_range(hidden // 128):
            piece = nl.ds(h * 128, 128)
            grown = nisa.nc_matmul(nl.load_transpose2d(up[piece, 0:width]), x_t)
            active = nisa.activation(op=nl.relu, data=grown, bias=nl.load(up_bias[piece]))
            acc += nisa.nc_matmul(active, nl.load_transpose2d(down[0:features, piece]))
        nl.store(out[nl.ds(t * tile, tile), 0:features], value=nl.add(acc, offset))
    return out
