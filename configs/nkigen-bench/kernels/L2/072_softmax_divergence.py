"""sum(softmax(p) * (p - q)) - (log-sum-exp of p - log-sum-exp of q)."""
from neuronxcc import nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(p, q):
    rows, classes = p.shape
    tile = 125
    out = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    for t in nl.affine_range(rows // tile):
        a = nl.load(p[nl.ds(t * tile, tile), 0:classes])
        b = nl.load(q[nl.ds(t * tile, tile), 0:classes])
        a_top, b_top = nl.max(a, axis=1, keepdims=True), nl.max(b, axis=1, keepdims=True)
        a_weight = nl.exp(a - a_top)
        a_total = nl.sum(a_weight, axis=1, keepdims=True)
        b_total = nl.sum(nl.exp(b - b_top), axis=1, keepdims=True)
        mean_gap = nl.sum(a_weight * (a - b), axis=1, keepdims=True) / a_total
        shift = (nl.log(a_total) + a_top) - (nl.log(b_total) + b_top)
        nl.store(out[nl.ds(t * tile, tile), 0:1], value=mean_gap - shift)
    return out
