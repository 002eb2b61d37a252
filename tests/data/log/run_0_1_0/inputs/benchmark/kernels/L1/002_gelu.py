"""GELU (tanh form) of [batch, tokens, width]: tokens on partitions, width along the free axis."""
import math

from neuronxcc import nki
import neuronxcc.nki.language as nl

SQRT_2_OVER_PI = math.sqrt(2.0 / math.pi)


@nki.jit
def kernel(x):
    batch, tokens, width = x.shape
    pmax = nl.tile_size.pmax
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)

    for b in nl.affine_range(batch):
        for t in nl.affine_range(math.ceil(tokens / pmax)):
            i_p, i_f = nl.mgrid[0:pmax, 0:width]
            inside = t * pmax + i_p < tokens
            a = nl.load(x[b, t * pmax + i_p, i_f], mask=inside, dtype=nl.float32)
            cube = nl.multiply(nl.square(a), a)
            inner = nl.add(a, nl.multiply(cube, 0.044715))
            gate = nl.tanh(nl.multiply(inner, SQRT_2_OVER_PI))
            result = nl.multiply(nl.multiply(a, 0.5), nl.add(gate, 1.0))
            nl.store(out[b, t * pmax + i_p, i_f], value=result, mask=inside)
    return out
