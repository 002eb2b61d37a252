"""Multi-head self-attention with projections; a head's context leaves already turned for the last product."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

HEADS = 4


@nki.jit
def kernel(x, query, key, value, project, project_bias):
    batch, tokens, width = x.shape
    depth = width // HEADS
    scale = depth ** -0.5
    out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    i_t = nl.arange(tokens)[:, None]
    i_w = nl.arange(width)[None, :]
    i_p = nl.arange(width)[:, None]
    j_d = nl.arange(depth)[None, :]

    # nn.Linear keeps [out, in]; the contraction (in) belongs on partitions.
    q_w = nl.load_transpose2d(query[i_p, i_w])
    k_w = nl.load_transpose2d(key[i_p, i_w])
    v_w = nl.load_transpose2d(value[i_p, i_w])
    offset = nl.load(project_bias.reshape((1, width))).broadcast_to((tokens, width))

    for b in nl.affine_range(batch):
        tile = nl.load(x[b, i_t, i_w])
        tile_t = nl.load_transpose2d(x[b, i_t, i_w])
        values = nl.copy(nl.matmul(tile_t, v_w, transpose_x=True), dtype=nl.float32)
        result = nl.zeros((tokens, width), dtype=nl.float32, buffer=nl.psum)
        for h in nl.affine_range(HEADS):
            q_t = nl.copy(nisa.nc_matmul(q_w[i_p, h * depth + j_d], tile_t), dtype=nl.float32)
            k_t = nl.copy(nisa.nc_matmul(k_w[i_p, h * depth + j_d], tile_t), dtype=nl.float32)
            scores = nl.multiply(nisa.nc_matmul(q_t, k_t), scale)
            top = nl.max(scores, axis=1, keepdims=True)
            weight = nl.exp(nl.subtract(scores, top))
            weight = nl.divide(weight, nl.sum(weight, axis=1, keepdims=True))
            weight_t = nl.copy(nisa.nc_transpose(weight), dtype=nl.float32)
            context_t = nl.copy(nisa.nc_matmul(values[i_t, h * depth + j_d], weight_t), dtype=nl.float32)
            project_t = nl.load_transpose2d(project[i_p, h * depth + j_d])
            result += nisa.nc_matmul(context_t, project_t)
        total = nl.add(nl.add(result, offset), tile)
        nl.store(out[b, i_t, i_w], value=total)
    return out
