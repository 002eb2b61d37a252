"""x * factor: the row of factors is spread over all partitions once."""
from neuronxcc import nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, factor):
    rows, cols = x.shape
    out = nl.ndarray((rows, cols), dtype=x.dtype, buffer=nl.shared_hbm)
    spread = nl.load(factor.reshape((1, cols))).broadcast_to((128, cols))
    for t in nl.static_range((rows + 127) // 128):
        height = min(128, rows - t * 128)
        tile = nl.load(x[t * 128:t * 128 + height, 0:cols])
        nl.store(out[t * 128:t * 128 + height, 0:cols], value=nl.multiply(tile, spread[0:height, 0:cols]))
    return out
