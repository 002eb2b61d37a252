"""A framed image, windows with a stride of two; the constant goes into the bias."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

SHIFT = 0.25


@nki.jit
def kernel(x, weight, bias):
    batch, channels, height, width = x.shape
    features = weight.shape[0]
    rows, cols = (height - 1) // 2 + 1, (width - 1) // 2 + 1
    out = nl.ndarray((batch, features, rows, cols), dtype=x.dtype, buffer=nl.shared_hbm)
    offset = nl.subtract(nl.load(bias[nl.ds(0, features)]), SHIFT)
    i_c = nl.arange(channels)[:, None, None]
    i_y, i_x = nl.arange(rows)[None, :, None], nl.arange(cols)[None, None, :]
    for b in nl.affine_range(batch):
        frame = nl.zeros((channels, height + 2, width + 2), dtype=nl.float32, buffer=nl.sbuf)
        frame[:, 1:height + 1, 1:width + 1] = nl.load(x[b])
        acc = nl.zeros((features, rows, cols), dtype=nl.float32, buffer=nl.psum)
        for i in nl.static_range(3):
            for j in nl.static_range(3):
                tap = nl.load_transpose2d(weight[0:features, 0:channels, i, j])
                acc += nisa.nc_matmul(tap, frame[i_c, 2 * i_y + i, 2 * i_x + j])
        nl.store(out[b], value=nl.mish(nisa.tensor_scalar(acc, op0=np.add, operand0=offset)))
    return out
