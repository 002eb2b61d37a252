"""Parameters of the model itself come before those of its layers: scale, weight, bias."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, scale, weight, bias):
    batch, channels, length = x.shape
    features = weight.shape[0]
    steps = length - 1
    out = nl.ndarray((batch, features, steps), dtype=x.dtype, buffer=nl.shared_hbm)
    raw = nl.load(weight)
    factor = nl.load(scale)
    shift = nl.multiply(nl.load(bias[nl.ds(0, features)]), factor)
    for b in nl.affine_range(batch):
        signal = nl.load(x[b])
        acc = nl.zeros((features, steps), dtype=nl.float32, buffer=nl.psum)
        for k in nl.static_range(2):
            tap = nl.copy(nisa.nc_transpose(nl.copy(raw[:, :, k])))
            acc += nisa.nc_matmul(tap, signal[:, k:k + steps])
        line = nisa.tensor_scalar(acc, op0=np.multiply, operand0=factor, op1=np.add, operand1=shift)
        nl.store(out[b], value=nisa.tensor_scalar(line, op0=np.maximum, operand0=-0.9, op1=np.minimum, operand1=1.1))
    return out
