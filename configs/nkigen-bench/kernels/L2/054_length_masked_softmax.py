"""A key's number is compared with the entry's length; what lies beyond gets a large negative number before the
exponent."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(scores, length):
    batch, rows, keys = scores.shape
    out = nl.ndarray(scores.shape, dtype=scores.dtype, buffer=nl.shared_hbm)
    limits = length.reshape((batch, 1))
    number = nisa.iota(0 * nl.arange(rows)[:, None] + nl.arange(keys)[None, :], dtype=nl.float32)
    for b in nl.affine_range(batch):
        limit = nl.load(limits[nl.ds(b, 1), 0:1], dtype=nl.float32).broadcast_to((rows, 1))
        beyond = nl.greater(number, limit, dtype=nl.float32)
        raw = nl.multiply(nl.load(scores[b]), 2.0)
        masked = nl.add(raw, nl.multiply(beyond, -30000.0))
        weight = nl.exp(nl.subtract(masked, nl.max(masked, axis=1, keepdims=True)))
        nl.store(out[b], value=nl.divide(weight, nl.sum(weight, axis=1, keepdims=True)))
    return out
