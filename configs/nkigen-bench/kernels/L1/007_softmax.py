"""Softmax of [batch, heads, queries, keys] scores over the keys; one tile a head."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

TEMPERATURE = 0.25


@nki.jit
def kernel(scores):
    batch, heads, queries, keys = scores.shape
    out = nl.ndarray(scores.shape, dtype=nl.float32, buffer=nl.shared_hbm)

    for b in nl.affine_range(batch):
        for h in nl.affine_range(heads):
            tile = nl.load(scores[b, h, 0:queries, 0:keys])
            top = nl.max(tile, axis=1, keepdims=True)
            shifted = nl.subtract(tile, top)
            weight = nisa.activation(op=nl.exp, data=shifted, scale=1.0 / TEMPERATURE)
            total = nl.sum(weight, axis=1, keepdims=True)
            nl.store(out[b, h, 0:queries, 0:keys], value=nl.divide(weight, total))
    return out
