"""mean(p * log(p / q) - p + q) of each row."""
import math

from neuronxcc import nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(p, q):
    rows, bins = p.shape
    pmax = nl.tile_size.pmax
    out = nl.ndarray((rows, 1), dtype=p.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.mgrid[0:pmax, 0:bins]
    o_p, o_f = nl.mgrid[0:pmax, 0:1]

    for t in nl.affine_range(math.ceil(rows / pmax)):
        p_tile = nl.load(p[t * pmax + i_p, i_f], mask=(t * pmax + i_p < rows), dtype=nl.float32)
        q_tile = nl.load(q[t * pmax + i_p, i_f], mask=(t * pmax + i_p < rows), dtype=nl.float32)
        ratio = nl.subtract(nl.log(p_tile), nl.log(q_tile))
        gap = p_tile * ratio - p_tile + q_tile
        mean = nl.sum(gap, axis=[1], keepdims=True) / bins
        nl.store(out[t * pmax + o_p, o_f], value=mean, mask=(t * pmax + o_p < rows))
    return out
