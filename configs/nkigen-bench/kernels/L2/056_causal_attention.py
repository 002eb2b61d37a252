"""Query tiles of 80: the first sees one tile of keys, the second two, with a running maximum and a running sum."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

SCALE = 0.3
FILL = -30000.0


@nki.jit
def kernel(q, k, v):
    heads, tokens, depth = q.shape
    tile = 80
    out = nl.ndarray(q.shape, dtype=q.dtype, buffer=nl.shared_hbm)
    i_q, i_k = nl.arange(tile)[:, None], nl.arange(tile)[None, :]
    for h in nl.affine_range(heads):
        for t in nl.static_range(tokens // tile):
            q_t = nl.load_transpose2d(q[h, nl.ds(t * tile, tile), 0:depth])
            top = nl.full((tile, 1), FILL, dtype=nl.float32, buffer=nl.sbuf)
            total = nl.zeros((tile, 1), dtype=nl.float32, buffer=nl.sbuf)
            mixed = nl.zeros((tile, depth), dtype=nl.float32, buffer=nl.sbuf)
            for s in nl.static_range(t + 1):
                k_t = nl.load_transpose2d(k[h, nl.ds(s * tile, tile), 0:depth])
                scores = nl.multiply(nisa.nc_matmul(q_t, k_t), SCALE)
                if s == t:
                    scores = nisa.affine_select(pred=(i_q >= i_k), on_true_tile=scores, on_false_value=FILL)
                higher = nl.maximum(top, nl.max(scores, axis=1, keepdims=True))
                fade = nl.exp(nl.subtract(top, higher))
                weight = nl.exp(nl.subtract(scores, higher))
                part = nisa.nc_matmul(nl.copy(nisa.nc_transpose(weight)), nl.load(v[h, nl.ds(s * tile, tile), 0:depth]))
                total[...] = nl.add(nl.multiply(total, fade), nl.sum(weight, axis=1, keepdims=True))
                mixed[...] = nl.add(nl.multiply(mixed, fade), part)
                top[...] = nl.copy(higher)
            nl.store(out[h, nl.ds(t * tile, tile), 0:depth], value=nl.divide(mixed, total))
    return out
