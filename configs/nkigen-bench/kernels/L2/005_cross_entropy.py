"""log(sum(exp(row))) - row[label]; the label is picked by comparing it with a row of class numbers."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(logits, target):
    rows, classes = logits.shape
    out = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    i_p = nl.arange(128)[:, None]
    i_c = nl.arange(classes)[None, :]
    i_one = nl.arange(1)[None, :]
    labels = target.reshape((rows, 1))
    number = nisa.iota(i_c, dtype=nl.float32)

    for t in nl.affine_range((rows + 127) // 128):
        row = t * 128 + i_p
        tile = nl.load(logits[row, i_c], mask=(row < rows))
        label = nl.load(labels[row, i_one], mask=(row < rows), dtype=nl.float32)
        chosen = nl.equal(number.broadcast_to((128, classes)), label, dtype=nl.float32)
        picked = nl.sum(nl.multiply(tile, chosen), axis=1, keepdims=True)
        top = nl.max(tile, axis=1, keepdims=True)
        total = nl.sum(nl.exp(nl.subtract(tile, top)), axis=1, keepdims=True)
        loss = nl.subtract(nl.add(nl.log(total), top), picked)
        nl.store(out[row, i_one], value=loss, mask=(row < rows))
    return out
