"""The modulation of a batch entry is one row of scales and one of shifts, spread over its tokens."""
from neuronxcc import nki
import neuronxcc.nki.language as nl

EPS = 1e-6


@nki.jit
def kernel(x, scale, shift):
    batch, tokens, width = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for b in nl.affine_range(batch):
        gain = nl.add(nl.load(scale[b:b + 1, 0:width]), 1.0).broadcast_to((tokens, width))
        offset = nl.load(shift[b:b + 1, 0:width]).broadcast_to((tokens, width))
        tile = nl.load(x[b])
        centred = nl.subtract(tile, nl.mean(tile, axis=1, keepdims=True))
        unit = nl.multiply(centred, nl.rsqrt(nl.mean(nl.square(centred), axis=1, keepdims=True) + EPS))
        nl.store(out[b], value=nl.add(nl.multiply(unit, gain), offset))
    return out
