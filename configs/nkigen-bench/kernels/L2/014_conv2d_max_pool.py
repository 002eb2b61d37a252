"""The pooling reads the sums as (rows, 2, cols, 2); the bias is added after it, to a quarter of the values."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight, bias):
    batch, channels, height, width = x.shape
    features = weight.shape[0]
    rows, cols = height - 2, width - 2
    out = nl.ndarray((batch, features, rows // 2, cols // 2), dtype=x.dtype, buffer=nl.shared_hbm)
    offset = nl.load(bias[nl.ds(0, features)])
    for b in nl.affine_range(batch):
        image = nl.load(x[b])
        acc = nl.zeros((features, rows, cols), dtype=nl.float32, buffer=nl.psum)
        for i in nl.static_range(3):
            for j in nl.static_range(3):
                tap = nl.load_transpose2d(weight[0:features, 0:channels, i, j])
                acc += nisa.nc_matmul(tap, image[:, i:i + rows, j:j + cols])
        windows = nl.copy(acc).reshape((features, rows // 2, 2, cols // 2, 2))
        best = nl.max(windows, axis=[2, 4])
        nl.store(out[b], value=nisa.tensor_scalar(best, op0=np.add, operand0=offset))
    return out
