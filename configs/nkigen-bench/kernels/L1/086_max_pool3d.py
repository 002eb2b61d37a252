"""One maximum an axis: depth, then height, then width; rows are (volume, channel) pairs."""
from neuronxcc import nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    batch, channels, depth, height, width = x.shape
    rows, d, h, w = batch * channels, depth // 2, height // 2, width // 2
    out = nl.ndarray((batch, channels, d, h, w), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x.reshape((rows, d, 2, height * width)))
    slices = nl.max(tile, axis=2)
    lines = nl.max(slices.reshape((rows, d * h, 2, width)), axis=2)
    points = nl.max(lines.reshape((rows, d * h * w, 2)), axis=2)
    nl.store(out.reshape((rows, d * h * w)), value=points)
    return out
