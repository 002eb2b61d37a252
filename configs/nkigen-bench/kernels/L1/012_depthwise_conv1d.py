"""Depthwise convolution: each channel sits on a partition, each tap is a shifted multiply and add."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight, bias):
    batch, channels, length = x.shape
    taps = weight.shape[2]
    steps = length - taps + 1
    tile = 96
    out = nl.ndarray((batch, channels, steps), dtype=nl.float32, buffer=nl.shared_hbm)

    for c in nl.affine_range(channels // tile):
        w = nl.load(weight[nl.ds(c * tile, tile), 0, 0:taps])
        offset = nl.load(bias[nl.ds(c * tile, tile)])
        for b in nl.affine_range(batch):
            signal = nl.load(x[b, nl.ds(c * tile, tile), 0:length])
            acc = nl.zeros((tile, steps), dtype=nl.float32, buffer=nl.sbuf)
            for k in nl.static_range(taps):
                acc += nisa.tensor_scalar(signal[0:tile, k:k + steps], op0=np.multiply, operand0=w[0:tile, k:k + 1])
            result = nisa.tensor_scalar(acc, op0=np.add, operand0=offset)
            nl.store(out[b, nl.ds(c * tile, tile), 0:steps], value=result)
    return out
