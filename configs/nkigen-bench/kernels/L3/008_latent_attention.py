"""The key map is absorbed by the query: scores are (q_h K_h) against the latent itself, and so are the values."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

HEADS = 4


@nki.jit
def kernel(x, query, compress, key, value, project):
    batch, tokens, width = x.shape
    latent, depth = compress.shape[0], width // HEADS
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    q_w, c_w = nl.load_transpose2d(query), nl.load_transpose2d(compress)
    for b in nl.affine_range(batch):
        tile = nl.load(x[b])
        x_t = nl.copy(nisa.nc_transpose(tile))
        narrow_t = nl.copy(nisa.nc_matmul(c_w, x_t))
        narrow = nl.copy(nisa.nc_matmul(x_t, c_w))
        result = nl.zeros((tokens, width), dtype=nl.float32, buffer=nl.psum)
        for h in nl.affine_range(HEADS):
            head = nl.ds(h * depth, depth)
            q_t = nl.copy(nisa.nc_matmul(q_w[:, head], x_t))
            absorbed = nl.copy(nisa.nc_matmul(nl.load(key[head, 0:latent]), q_t))
            scores = nl.multiply(nisa.nc_matmul(absorbed, narrow_t), depth ** -0.5)
            weights_t = nl.copy(nisa.nc_transpose(nl.softmax(scores, axis=-1)))
            seen_t = nl.copy(nisa.nc_matmul(narrow, weights_t))
            mixed_t = nl.copy(nisa.nc_matmul(nl.load_transpose2d(value[head, 0:latent]), seen_t))
            result += nisa.nc_matmul(mixed_t, nl.load_transpose2d(project[0:width, head]))
        nl.store(out[b], value=nl.add(tile, result))
    return out
