"""Norm weights scale the columns of what they feed, as one number a partition of the turned rows."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

HEADS, EPS, FILL = 3, 1e-6, -30000.0


def unit_turned(tile, weight, width):
    """rms-normalised rows, turned, each feature times its weight"""
    scale = nl.rsqrt(nl.add(nl.mean(nl.square(tile), axis=1, keepdims=True), EPS))
    turned = nisa.nc_transpose(nl.multiply(tile, scale))
    return nisa.tensor_scalar(turned, op0=np.multiply, operand0=nl.load(weight[nl.ds(0, width)]))


@nki.jit
def kernel(x, norm_1, norm_2, query, key, value, project, gate, up, down):
    batch, tokens, width = x.shape
    hidden, depth, half = gate.shape[0], width // HEADS, gate.shape[0] // 2
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    q_w, k_w, v_w = nl.load_transpose2d(query), nl.load_transpose2d(key), nl.load_transpose2d(value)
    i_q, i_k = nl.arange(tokens)[:, None], nl.arange(tokens)[None, :]
    for b in nl.affine_range(batch):
        tile = nl.load(x[b])
        y_t = unit_turned(tile, norm_1, width)
        values = nl.copy(nisa.nc_matmul(y_t, v_w))
        attended = nl.zeros((tokens, width), dtype=nl.float32, buffer=nl.psum)
        for h in nl.affine_range(HEADS):
            head = nl.ds(h * depth, depth)
            q_t = nl.copy(nisa.nc_matmul(q_w[:, head], y_t))
            k_t = nl.copy(nisa.nc_matmul(k_w[:, head], y_t))
            scores = nl.multiply(nisa.nc_matmul(q_t, k_t), depth ** -0.5)
            seen = nisa.affine_select(pred=(i_q >= i_k), on_true_tile=scores, on_false_value=FILL)
            weights = nl.softmax(seen, axis=-1)
            mixed_t = nl.copy(nisa.nc_matmul(values[:, head], nl.copy(nisa.nc_transpose(weights))))
            attended += nisa.nc_matmul(mixed_t, nl.load_transpose2d(project[0:width, head]))
        middle = nl.add(tile, attended)
        z_t = unit_turned(middle, norm_2, width)
        fed = nl.zeros((tokens, width), dtype=nl.float32, buffer=nl.psum)
        for s in nl.affine_range(2):
            piece = nl.ds(s * half, half)
            opened = nl.silu(nisa.nc_matmul(nl.load_transpose2d(gate[piece, 0:width]), z_t))
            grown = nl.multiply(opened, nisa.nc_matmul(nl.load_transpose2d(up[piece, 0:width]), z_t))
            fed += nisa.nc_matmul(grown, nl.load_transpose2d(down[0:width, piece]))
        nl.store(out[b], value=nl.add(middle, fed))
    return out
