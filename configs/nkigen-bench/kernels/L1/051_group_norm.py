"""Group normalisation: a group is a partition, its channels and pixels are free axes."""
from neuronxcc import nki
import neuronxcc.nki.language as nl

EPS = 1e-5
GROUPS = 8


@nki.jit
def kernel(x, weight, bias):
    batch, channels, height, width = x.shape
    each, pixels = channels // GROUPS, height * width
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    source = x.reshape((batch, GROUPS, each, pixels))
    target = out.reshape((batch, GROUPS, each, pixels))
    gain = nl.load(weight.reshape((GROUPS, each, 1)))
    offset = nl.load(bias.reshape((GROUPS, each, 1)))
    for b in nl.affine_range(batch):
        tile = nl.load(source[b])
        mean = nl.mean(tile, axis=[1, 2], keepdims=True)
        centred = nl.subtract(tile, mean)
        variance = nl.mean(nl.square(centred), axis=[1, 2], keepdims=True)
        unit = nl.multiply(centred, nl.rsqrt(nl.add(variance, EPS)))
        nl.store(target[b], value=nl.add(nl.multiply(unit, gain), offset))
    return out
