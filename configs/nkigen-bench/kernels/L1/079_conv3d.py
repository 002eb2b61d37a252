"""27 products on shifted windows of the volume, summed in one bank of PSUM."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight, bias):
    _, channels, depth, height, width = x.shape
    features = weight.shape[0]
    d, h, w = depth - 2, height - 2, width - 2
    out = nl.ndarray((1, features, d, h, w), dtype=x.dtype, buffer=nl.shared_hbm)
    volume, raw = nl.load(x[0]), nl.load(weight.reshape((features, channels, 27)))
    acc = nl.zeros((features, d, h, w), dtype=nl.float32, buffer=nl.psum)
    for a in nl.static_range(3):
        for i in nl.static_range(3):
            for j in nl.static_range(3):
                tap = nl.copy(nisa.nc_transpose(raw[:, :, 9 * a + 3 * i + j]))
                acc += nisa.nc_matmul(tap, volume[:, a:a + d, i:i + h, j:j + w])
    nl.store(out[0], value=nisa.tensor_scalar(acc, op0=np.add, operand0=nl.load(bias[nl.ds(0, features)])))
    return out
