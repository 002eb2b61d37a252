"""Nine fused multiply-adds on a framed image: scalar_tensor_tensor does (window * tap) + sum in one instruction."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight, bias):
    batch, channels, height, width = x.shape
    pixels = height * width
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    target = out.reshape((batch, channels, pixels))
    taps = nl.load(weight.reshape((channels, 9)))
    offset = nl.load(bias[nl.ds(0, channels)])
    for b in nl.affine_range(batch):
        frame = nl.zeros((channels, height + 2, width + 2), dtype=nl.float32, buffer=nl.sbuf)
        frame[:, 1:height + 1, 1:width + 1] = nl.load(x[b])
        total = nl.zeros((channels, pixels), dtype=nl.float32, buffer=nl.sbuf)
        for k in nl.static_range(9):
            window = nl.copy(frame[:, k // 3:k // 3 + height, k % 3:k % 3 + width]).reshape((channels, pixels))
            total[...] = nisa.scalar_tensor_tensor(
                data=window, op0=np.multiply, operand0=taps[:, k:k + 1], op1=np.add, operand1=total
            )
        held = nisa.tensor_scalar(
            nisa.activation(op=nl.relu, data=total, bias=offset), op0=np.minimum, operand0=6.0
        )
        nl.store(target[b], value=held)
    return out
