"""Channels lie on partitions; a product with a column of weights sums over them on the tensor engine."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    batch, channels, height, width = x.shape
    pixels = height * width
    flat = x.reshape((batch, channels, pixels))
    out = nl.ndarray((batch, height, width), dtype=x.dtype, buffer=nl.shared_hbm)
    target = out.reshape((batch, pixels))
    weight = nl.full((channels, 1), 5.0 / channels, dtype=nl.float32, buffer=nl.sbuf)
    for b in nl.affine_range(batch):
        tile = nl.load(flat[b])
        mean = nl.copy(nisa.nc_matmul(weight, tile), dtype=nl.float32)
        nl.store(target[b:b + 1, 0:pixels], value=mean)
    return out
