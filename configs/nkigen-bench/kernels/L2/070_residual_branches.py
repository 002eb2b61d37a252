"""Two three-operand instructions: (a * first) + x, then (b * second) + that."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, a, b, first, second):
    batch, channels, height, width = x.shape
    pixels = height * width
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    shape = (batch, channels, pixels)
    x, a, b, target = x.reshape(shape), a.reshape(shape), b.reshape(shape), out.reshape(shape)
    one, two = nl.load(first.reshape((channels, 1))), nl.load(second.reshape((channels, 1)))
    for e in nl.affine_range(batch):
        total = nisa.scalar_tensor_tensor(
            data=nl.load(a[e]), op0=np.multiply, operand0=one, op1=np.add, operand1=nl.load(x[e])
        )
        total = nisa.scalar_tensor_tensor(
            data=nl.load(b[e]), op0=np.multiply, operand0=two, op1=np.add, operand1=total
        )
        nl.store(target[e], value=nl.relu(total))
    return out
