"""Two distances of each row and a clamp."""
from neuronxcc import nki
import neuronxcc.nki.language as nl

MARGIN, EPS = 2.0, 1e-6


def distance(a, b):
    gap = nl.subtract(a, b)
    return nl.sqrt(nl.add(nl.sum(nl.square(gap), axis=1, keepdims=True), EPS))


@nki.jit
def kernel(anchor, positive, negative):
    rows, depth = anchor.shape
    out = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    for t in nl.affine_range(rows // 70):
        piece = nl.ds(t * 70, 70)
        here = nl.load(anchor[piece, 0:depth])
        near = distance(here, nl.load(positive[piece, 0:depth]))
        far = distance(here, nl.load(negative[piece, 0:depth]))
        nl.store(out[piece, 0:1], value=nl.relu(nl.add(nl.subtract(near, far), MARGIN)))
    return out
