"""With m = min(|gap|, delta) the loss is m * (|gap| - m / 2) on both sides of delta."""
from neuronxcc import nki
import neuronxcc.nki.language as nl

DELTA = 0.8


@nki.jit
def kernel(prediction, target):
    batch, rows, cols = prediction.shape
    tile = 65
    out = nl.ndarray((batch, rows), dtype=nl.float32, buffer=nl.shared_hbm)
    i_p, i_f = nl.arange(tile)[:, None], nl.arange(cols)[None, :]
    for b in nl.affine_range(batch):
        for t in nl.affine_range(rows // tile):
            row = t * tile + i_p
            size = nl.abs(nl.load(prediction[b, row, i_f]) - nl.load(target[b, row, i_f]))
            small = nl.minimum(size, DELTA)
            loss = nl.multiply(small, nl.subtract(size, nl.multiply(small, 0.5)))
            nl.store(out[b, row], value=nl.mean(loss, axis=1))
    return out
