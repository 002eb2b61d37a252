"""Nine shifted multiply-adds on the vector engine; a channel is a partition, a tap one number of it."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight, bias):
    batch, channels, height, width = x.shape
    rows, cols = height - 2, width - 2
    out = nl.ndarray((batch, channels, rows, cols), dtype=x.dtype, buffer=nl.shared_hbm)
    taps = nl.load(weight.reshape((channels, 9)))
    offset = nl.load(bias[nl.ds(0, channels)])
    for b in nl.affine_range(batch):
        image = nl.load(x[b])
        acc = nl.zeros((channels, rows, cols), dtype=nl.float32, buffer=nl.sbuf)
        for i in nl.static_range(3):
            for j in nl.static_range(3):
                tap = taps[:, 3 * i + j:3 * i + j + 1]
                acc += nisa.tensor_scalar(image[:, i:i + rows, j:j + cols], op0=np.multiply, operand0=tap)
        nl.store(out[b], value=nisa.tensor_scalar(acc, op0=np.add, operand0=offset))
    return out
