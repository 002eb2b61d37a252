"""A patch's pixels are gathered on partitions by strided loads: 8 rows of 8 pixels for each channel contract 64
deep."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

P = 8


@nki.jit
def kernel(x, weight, bias):
    batch, channels, height, width = x.shape
    features = weight.shape[0]
    rows, cols = height // P, width // P
    out = nl.ndarray((batch, rows * cols, features), dtype=x.dtype, buffer=nl.shared_hbm)
    offset = nl.load(bias.reshape((1, features))).broadcast_to((rows * cols, features))
    i_r, i_c = nl.arange(P)[:, None, None], nl.arange(rows)[None, :, None]
    i_w = nl.arange(cols)[None, None, :]
    for b in nl.affine_range(batch):
        acc = nl.zeros((rows * cols, features), dtype=nl.float32, buffer=nl.psum)
        for c in nl.static_range(channels):
            for j in nl.static_range(P):
                # pixel (i, j) of every patch: i on partitions, patches along the free axes
                pixels = nl.load(x[b, c, i_c * P + i_r, i_w * P + j])
                block = nl.copy(pixels).reshape((P, rows * cols))
                taps = nl.load_transpose2d(weight.reshape((features, channels, P, P))[0:features, c, 0:P, j])
                acc += nisa.nc_matmul(block, taps)
        nl.store(out[b], value=nl.add(acc, offset))
    return out
