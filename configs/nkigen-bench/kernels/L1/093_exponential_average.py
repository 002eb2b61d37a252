"""state = keep * state + (1 - keep) * x as a scan whose initial state is the first value of each channel."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

KEEP = 0.9


@nki.jit
def kernel(x):
    batch, channels, length = x.shape
    tile = 75
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    keep = nl.full((tile, length), KEEP, dtype=nl.float32, buffer=nl.sbuf)
    for b in nl.affine_range(batch):
        for c in nl.affine_range(channels // tile):
            signal = nl.load(x[b, nl.ds(c * tile, tile), 0:length])
            fed = nl.multiply(signal, 1.0 - KEEP)
            first = nl.copy(signal[0:tile, 0:1])
            state = nisa.tensor_tensor_scan(keep, fed, initial=first, op0=np.multiply, op1=np.add)
            nl.store(out[b, nl.ds(c * tile, tile), 0:length], value=state)
    return out
