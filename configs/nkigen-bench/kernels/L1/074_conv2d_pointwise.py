"""weight @ image with 75 channels a step; the bias is added on the way out of PSUM."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight, bias):
    batch, channels, height, width = x.shape
    features, pixels, step = weight.shape[0], height * width, 75
    out = nl.ndarray((batch, features, height, width), dtype=x.dtype, buffer=nl.shared_hbm)
    source, target = x.reshape((batch, channels, pixels)), out.reshape((batch, features, pixels))
    flat = weight.reshape((features, channels))
    offset = nl.load(bias[nl.ds(0, features)])
    for b in nl.affine_range(batch):
        acc = nl.zeros((features, pixels), dtype=nl.float32, buffer=nl.psum)
        for s in nl.affine_range(channels // step):
            turned = nl.load_transpose2d(flat[0:features, nl.ds(s * step, step)])
            acc += nisa.nc_matmul(turned, nl.load(source[b, nl.ds(s * step, step), 0:pixels]))
        nl.store(target[b], value=nisa.tensor_scalar(acc, op0=np.add, operand0=offset))
    return out
