"""The two halves of a turned vector stay apart: a score is the sum of two products of half the depth."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

SCALE, FILL = 0.2, -30000.0


def halves(x, b, h, cosine, sine, tokens, half):
    """the turned halves of a head, features on partitions"""
    first = nl.load_transpose2d(x[b, h, 0:tokens, 0:half])
    second = nl.load_transpose2d(x[b, h, 0:tokens, half:2 * half])
    low = nl.subtract(nl.multiply(first, cosine), nl.multiply(second, sine))
    return low, nl.add(nl.multiply(first, sine), nl.multiply(second, cosine))


@nki.jit
def kernel(q, k, v, angle):
    batch, heads, tokens, depth = q.shape
    half = depth // 2
    out = nl.ndarray(q.shape, dtype=q.dtype, buffer=nl.shared_hbm)
    turn = nl.load_transpose2d(angle)
    sine = nisa.activation(op=nl.sin, data=turn, scale=3.0)
    slow = nl.square(nisa.activation(op=nl.sin, data=turn, scale=1.5))
    cosine = nl.add(nl.multiply(slow, -2.0), 1.0)
    i_q, i_k = nl.arange(tokens)[:, None], nl.arange(tokens)[None, :]
    for b in nl.affine_range(batch):
        for h in nl.affine_range(heads):
            q_low, q_high = halves(q, b, h, cosine, sine, tokens, half)
            k_low, k_high = halves(k, b, h, cosine, sine, tokens, half)
            acc = nl.zeros((tokens, tokens), dtype=nl.float32, buffer=nl.psum)
            acc += nisa.nc_matmul(q_low, k_low)
            acc += nisa.nc_matmul(q_high, k_high)
            scores = nl.multiply(acc, SCALE)
            seen = nisa.affine_select(pred=(i_q >= i_k), on_true_tile=scores, on_false_value=FILL)
            weights = nl.softmax(seen, axis=-1)
            nl.store(out[b, h], value=nl.copy(nisa.nc_matmul(nl.copy(nisa.nc_transpose(weights)), nl.load(v[b, h]))))
    return out
