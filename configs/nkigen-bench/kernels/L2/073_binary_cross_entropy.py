"""max(x, 0) - x t + log(1 + exp(-|x|)), the stable form."""
from neuronxcc import nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(score, target):
    batch, rows, cols = score.shape
    out = nl.ndarray((batch, rows), dtype=nl.float32, buffer=nl.shared_hbm)
    i_p = nl.arange(rows)[:, None]
    for b in nl.affine_range(batch):
        x, wanted = nl.load(score[b]), nl.load(target[b])
        tail = nl.log(nl.add(nl.exp(nl.negative(nl.abs(x))), 1.0))
        loss = nl.add(nl.subtract(nl.relu(x), nl.multiply(x, wanted)), tail)
        nl.store(out[b, i_p], value=nl.mean(loss, axis=1))
    return out
