"""Residual add and root-mean-square normalisation; both results are returned."""
from neuronxcc import nki
import neuronxcc.nki.language as nl

EPS = 1e-6


@nki.jit
def kernel(x, residual, weight):
    rows, width = x.shape
    normed = nl.ndarray((rows, width), dtype=x.dtype, buffer=nl.shared_hbm)
    summed = nl.ndarray((rows, width), dtype=x.dtype, buffer=nl.shared_hbm)
    i_p = nl.arange(128)[:, None]
    i_f = nl.arange(width)[None, :]
    i_one = nl.arange(1)[:, None]
    gain = nl.load(weight.reshape((1, width))[i_one, i_f])

    for t in nl.affine_range((rows + 127) // 128):
        row = t * 128 + i_p
        a = nl.load(x[row, i_f], mask=(row < rows))
        b = nl.load(residual[row, i_f], mask=(row < rows))
        total = nl.add(a, b)
        power = nl.sum(nl.square(total), axis=1, keepdims=True)
        scale = nl.rsqrt(nl.add(nl.multiply(power, 1.0 / width), EPS))
        unit = nl.multiply(total, scale, dtype=nl.float32)
        result = nl.multiply(unit, gain.broadcast_to((128, width)))
        nl.store(normed[row, i_f], value=result, mask=(row < rows))
        nl.store(summed[row, i_f], value=total, mask=(row < rows))
    return normed, summed
