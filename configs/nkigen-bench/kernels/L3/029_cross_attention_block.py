"""Two sequences of different lengths; weights of a head are turned for the product with its 77 values."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

HEADS, EPS = 3, 1e-5


@nki.jit
def kernel(x, context, query, key, value, project, project_bias):
    batch, queries, width = x.shape
    keys, depth = context.shape[1], width // HEADS
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    q_w, k_w, v_w = nl.load_transpose2d(query), nl.load_transpose2d(key), nl.load_transpose2d(value)
    shift = nl.load(project_bias.reshape((1, width))).broadcast_to((queries, width))
    for b in nl.affine_range(batch):
        tile = nl.load(x[b])
        summary = nisa.bn_aggr(nisa.bn_stats(tile))
        scale = nl.rsqrt(summary[:, 1:2] + EPS)
        unit = nisa.tensor_scalar(tile, op0=np.subtract, operand0=summary[:, 0:1], op1=np.multiply, operand1=scale)
        y_t = nl.copy(nisa.nc_transpose(unit))
        c_t = nl.load_transpose2d(context[b, 0:keys, 0:width])
        values = nl.copy(nisa.nc_matmul(c_t, v_w))
        total = nl.zeros((queries, width), dtype=nl.float32, buffer=nl.psum)
        for h in nl.affine_range(HEADS):
            head = nl.ds(h * depth, depth)
            q_t = nl.multiply(nisa.nc_matmul(q_w[:, head], y_t), depth ** -0.5)
            k_t = nl.copy(nisa.nc_matmul(k_w[:, head], c_t))
            scores = nl.copy(nisa.nc_matmul(q_t, k_t))
            weights = nl.exp(nl.subtract(scores, nl.max(scores, axis=1, keepdims=True)))
            weights = nl.divide(weights, nl.sum(weights, axis=1, keepdims=True))
            mixed_t = nl.copy(nisa.nc_matmul(values[:, head], nl.copy(nisa.nc_transpose(weights))))
            total += nisa.nc_matmul(mixed_t, nl.load_transpose2d(project[0:width, head]))
        nl.store(out[b], value=nl.add(nl.add(total, shift), tile))
    return out
