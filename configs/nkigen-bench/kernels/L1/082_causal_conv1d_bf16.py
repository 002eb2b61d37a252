"""Three zeros stand before the signal; each tap is a shifted multiply-add in float32."""
from neuronxcc import nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight):
    batch, channels, length = x.shape
    taps = weight.shape[2]
    out = nl.ndarray((batch, channels, length), dtype=nl.float32, buffer=nl.shared_hbm)
    factor = nl.load(weight.reshape((channels, taps)))
    for b in nl.affine_range(batch):
        signal = nl.zeros((channels, length + taps - 1), dtype=nl.float32, buffer=nl.sbuf)
        signal[:, taps - 1:length + taps - 1] = nl.load(x[b], dtype=nl.float32)
        acc = nl.zeros((channels, length), dtype=nl.float32, buffer=nl.sbuf)
        for k in nl.static_range(taps):
            acc += nl.multiply(signal[:, k:k + length], factor[:, k:k + 1])
        nl.store(out[b], value=acc)
    return out
