"""Product, elementwise product and row sum; the matrix stays in SBUF."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, y, w):
    rows, width = x.shape
    depth, tile = w.shape[1], 96
    out = nl.ndarray((rows, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    middle = nl.load(w)
    for t in nl.affine_range(rows // tile):
        left = nl.load_transpose2d(x[nl.ds(t * tile, tile), 0:width])
        weighted = nl.multiply(nisa.nc_matmul(left, middle), nl.load(y[nl.ds(t * tile, tile), 0:depth]))
        nl.store(out[nl.ds(t * tile, tile), 0:1], value=nl.sum(weighted, axis=1, keepdims=True))
    return out
