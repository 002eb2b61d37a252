"""Rows on partitions: the vector is spread over all of them, multiplied, and summed along the free axis."""
from neuronxcc import nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(a, v):
    m, k = a.shape
    tile = 111
    out = nl.ndarray((m, 1), dtype=a.dtype, buffer=nl.shared_hbm)
    spread = nl.load(v.reshape((1, k))).broadcast_to((tile, k))
    for t in nl.affine_range(m // tile):
        rows = nl.load(a[nl.ds(t * tile, tile), 0:k])
        nl.store(out[nl.ds(t * tile, tile), 0:1], value=nl.sum(nl.multiply(rows, spread), axis=1, keepdims=True))
    return out
