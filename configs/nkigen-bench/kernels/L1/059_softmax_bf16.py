"""Softmax in float32 of scores that come as bfloat16; an SPMD grid of three row tiles."""
from neuronxcc import nki
import neuronxcc.nki.language as nl

GRID = (3,)


@nki.jit
def kernel(x):
    rows, cols = x.shape
    out = nl.ndarray((rows, cols), dtype=nl.float32, buffer=nl.shared_hbm)
    row = nl.program_id(0) * 128 + nl.arange(128)[:, None]
    i_f = nl.arange(cols)[None, :]
    tile = nl.load(x[row, i_f], dtype=nl.float32)
    weight = nl.exp(tile - nl.max(tile, axis=1, keepdims=True))
    nl.store(out[row, i_f], value=weight / nl.sum(weight, axis=1, keepdims=True))
    return out
