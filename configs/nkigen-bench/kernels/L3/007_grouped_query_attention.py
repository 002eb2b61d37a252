"""Keys and values of a group are made once and kept for the three query heads that share them."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

HEADS, GROUPS = 6, 2


@nki.jit
def kernel(x, query, key, value, project):
    batch, tokens, width = x.shape
    depth, share = width // HEADS, HEADS // GROUPS
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    q_w, k_w, v_w = nl.load_transpose2d(query), nl.load_transpose2d(key), nl.load_transpose2d(value)
    for b in nl.affine_range(batch):
        x_t = nl.load_transpose2d(x[b, 0:tokens, 0:width])
        result = nl.zeros((tokens, width), dtype=nl.float32, buffer=nl.psum)
        for g in nl.affine_range(GROUPS):
            k_t = nl.copy(nisa.nc_matmul(k_w[:, nl.ds(g * depth, depth)], x_t))
            values = nl.copy(nisa.nc_matmul(x_t, v_w[:, nl.ds(g * depth, depth)]))
            for s in nl.affine_range(share):
                head = nl.ds((g * share + s) * depth, depth)
                q_t = nl.copy(nisa.nc_matmul(q_w[:, head], x_t))
                weights = nl.softmax(nl.multiply(nisa.nc_matmul(q_t, k_t), depth ** -0.5), axis=-1)
                mixed_t = nl.copy(nisa.nc_matmul(values, nl.copy(nisa.nc_transpose(weights))))
                result += nisa.nc_matmul(mixed_t, nl.load_transpose2d(project[0:width, head]))
        nl.store(out[b], value=nl.copy(result))
    return out
