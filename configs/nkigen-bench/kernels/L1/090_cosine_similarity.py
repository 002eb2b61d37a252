"""dot / (|x| |y|) of each row."""
from neuronxcc import nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, y):
    rows, cols = x.shape
    tile = 90
    out = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    for t in nl.affine_range(rows // tile):
        a = nl.load(x[nl.ds(t * tile, tile), 0:cols])
        b = nl.load(y[nl.ds(t * tile, tile), 0:cols])
        dot = nl.sum(a * b, axis=1, keepdims=True)
        power = nl.sum(a * a, axis=1, keepdims=True) * nl.sum(b * b, axis=1, keepdims=True)
        nl.store(out[nl.ds(t * tile, tile), 0:1], value=dot * nl.rsqrt(power))
    return out
