"""Features on partitions from the gate on, so that time is the free axis of the depthwise taps."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

EPS = 1e-5


@nki.jit
def kernel(x, grow, depth, shrink):
    batch, tokens, width = x.shape
    taps = depth.shape[2]
    edge = taps // 2
    out = nl.ndarray((batch, tokens, width), dtype=nl.float32, buffer=nl.shared_hbm)
    value_w, gate_w = nl.load_transpose2d(grow[0:width, 0:width]), nl.load_transpose2d(grow[width:2 * width, 0:width])
    factor, shrink_t = nl.load(depth.reshape((width, taps))), nl.load_transpose2d(shrink)
    for b in nl.affine_range(batch):
        tile = nl.load(x[b], dtype=nl.float32)
        centred = tile - nl.mean(tile, axis=1, keepdims=True)
        unit = centred * nl.rsqrt(nl.mean(nl.square(centred), axis=1, keepdims=True) + EPS)
        y_t = nl.copy(nisa.nc_transpose(unit))
        line = nl.zeros((width, tokens + 2 * edge), dtype=nl.float32, buffer=nl.sbuf)
        opened = nl.sigmoid(nisa.nc_matmul(gate_w, y_t))
        line[:, edge:edge + tokens] = nl.multiply(opened, nisa.nc_matmul(value_w, y_t))
        mixed = nl.zeros((width, tokens), dtype=nl.float32, buffer=nl.sbuf)
        for k in nl.static_range(taps):
            mixed += nl.multiply(line[:, k:k + tokens], factor[:, k:k + 1])
        nl.store(out[b], value=nl.add(nisa.nc_matmul(nl.silu(mixed), shrink_t), tile))
    return out
