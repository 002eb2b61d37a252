"""The depthwise half runs on the vector engine, the pointwise half on the tensor engine; nothing goes back to HBM
between."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, depth, point, bias):
    batch, channels, height, width = x.shape
    features = point.shape[0]
    out = nl.ndarray((batch, features, height, width), dtype=x.dtype, buffer=nl.shared_hbm)
    taps = nl.load(depth.reshape((channels, 9)))
    turned = nl.load_transpose2d(point.reshape((features, channels)))
    offset = nl.load(bias[nl.ds(0, features)])
    for b in nl.affine_range(batch):
        frame = nl.zeros((channels, height + 2, width + 2), dtype=nl.float32, buffer=nl.sbuf)
        frame[:, 1:height + 1, 1:width + 1] = nl.load(x[b])
        mixed = nl.zeros((channels, height, width), dtype=nl.float32, buffer=nl.sbuf)
        for k in nl.static_range(9):
            window = frame[:, k // 3:k // 3 + height, k % 3:k % 3 + width]
            mixed += nisa.tensor_scalar(window, op0=np.multiply, operand0=taps[:, k:k + 1])
        product = nisa.nc_matmul(turned, mixed)
        nl.store(out[b], value=nisa.activation(op=nl.relu, data=product, bias=offset))
    return out
