"""Feature 4 f + 2 i + j is pixel (i, j) of feature f: the weight's rows are taken with a stride of four."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight, bias):
    batch, channels, height, width = x.shape
    features = weight.shape[0] // 4
    out = nl.ndarray((batch, features, 2 * height, 2 * width), dtype=x.dtype, buffer=nl.shared_hbm)
    taps, shifts = weight.reshape((features, 4, channels)), bias.reshape((features, 4))
    i_f = nl.arange(features)[:, None, None]
    i_y, i_x = nl.arange(height)[None, :, None], nl.arange(width)[None, None, :]
    for b in nl.affine_range(batch):
        image = nl.load(x[b])
        for k in nl.static_range(4):
            turned = nl.load_transpose2d(taps[0:features, k, 0:channels])
            grown = nisa.tensor_scalar(
                nisa.nc_matmul(turned, image), op0=np.add, operand0=nl.load(shifts[0:features, k:k + 1])
            )
            nl.store(out[b, i_f, 2 * i_y + k // 2, 2 * i_x + k % 2], value=grown)
    return out
