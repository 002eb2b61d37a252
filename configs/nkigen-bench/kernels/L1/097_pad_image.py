"""A tile filled with the constant, the image laid into it, one store."""
from neuronxcc import nki
import neuronxcc.nki.language as nl

VALUE = 0.5


@nki.jit
def kernel(x):
    batch, channels, height, width = x.shape
    rows, cols = height + 6, width + 4
    out = nl.ndarray((batch, channels, rows, cols), dtype=x.dtype, buffer=nl.shared_hbm)
    for b in nl.affine_range(batch):
        frame = nl.full((channels, rows, cols), VALUE, dtype=x.dtype, buffer=nl.sbuf)
        frame[:, 2:height + 2, 1:width + 1] = nl.load(x[b])
        nl.store(out[b], value=frame)
    return out
