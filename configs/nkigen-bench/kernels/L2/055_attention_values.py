"""The weights are turned before they are divided: the sum over keys comes out of the same product, by a column of
ones."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(scores, v):
    heads, queries, keys = scores.shape
    depth = v.shape[2]
    out = nl.ndarray((heads, queries, depth), dtype=scores.dtype, buffer=nl.shared_hbm)
    for h in nl.affine_range(heads):
        raw = nl.load(scores[h])
        weight = nl.exp(raw - nl.max(raw, axis=1, keepdims=True))
        turned = nl.copy(nisa.nc_transpose(weight))
        values = nl.ones((keys, depth + 1), dtype=nl.float32, buffer=nl.sbuf)
        values[:, 0:depth] = nl.load(v[h])
        mixed = nl.copy(nisa.nc_matmul(turned, values))
        total = nisa.reciprocal(mixed[:, depth:depth + 1])
        nl.store(out[h], value=nisa.tensor_scalar(mixed[:, 0:depth], op0=np.multiply, operand0=total))
    return out
