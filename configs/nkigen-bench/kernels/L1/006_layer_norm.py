"""Layer normalisation over the last axis, rows on partitions."""
from neuronxcc import nki
import neuronxcc.nki.language as nl

EPS = 1e-5


@nki.jit
def kernel(x, weight, bias):
    rows, width = x.shape
    pmax = nl.tile_size.pmax
    out = nl.ndarray((rows, width), dtype=x.dtype, buffer=nl.shared_hbm)
    i_p = nl.arange(pmax)[:, None]
    i_f = nl.arange(width)[None, :]
    gamma = nl.load(weight.reshape((1, width)))
    beta = nl.load(bias.reshape((1, width)))

    for t in nl.affine_range((rows + pmax - 1) // pmax):
        row = t * pmax + i_p
        tile = nl.load(x[row, i_f], mask=(row < rows), dtype=nl.float32)
        mean = nl.mean(tile, axis=1, keepdims=True)
        centred = nl.subtract(tile, mean)
        variance = nl.mean(nl.square(centred), axis=1, keepdims=True)
        scale = nl.rsqrt(nl.add(variance, EPS))
        unit = nl.multiply(centred, scale)
        result = nl.add(nl.multiply(unit, gamma.broadcast_to((pmax, width))), beta.broadcast_to((pmax, width)))
        nl.store(out[row, i_f], value=result, mask=(row < rows))
    return out
