"""rate^distance = exp(distance * log(rate)); affine_select clears what lies above the diagonal."""
import math

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

RATES, EPS = [0.7, 0.8, 0.9, 0.95], 1e-6


@nki.jit
def kernel(q, k, v):
    heads, tokens, depth = q.shape
    out = nl.ndarray(q.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    i_q, i_k = nl.arange(tokens)[:, None], nl.arange(tokens)[None, :]
    distance = nl.maximum(nisa.iota(i_q - i_k, dtype=nl.float32), 0.0)
    for h in nl.static_range(heads):
        fading = nisa.activation(op=nl.exp, data=distance, scale=math.log(RATES[h]))
        fading = nisa.affine_select(pred=(i_q >= i_k), on_true_tile=fading, on_false_value=0.0)
        q_t, k_t = nl.load_transpose2d(q[h]), nl.load_transpose2d(k[h])
        kept = nl.multiply(nisa.nc_matmul(q_t, k_t), fading)
        mixed = nl.copy(nisa.nc_matmul(nl.copy(nisa.nc_transpose(kept)), nl.load(v[h], dtype=nl.float32)))
        scale = nl.rsqrt(nl.mean(nl.square(mixed), axis=1, keepdims=True) + EPS)
        nl.store(out[h], value=nl.multiply(mixed, scale))
    return out
