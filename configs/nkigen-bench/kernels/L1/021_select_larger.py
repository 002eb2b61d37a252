"""where(x > y, alpha * x, y), columns in ragged blocks."""
from neuronxcc import nki
import neuronxcc.nki.language as nl

ALPHA = 2.5


@nki.jit
def kernel(x, y):
    rows, cols = x.shape
    block = 512
    out = nl.ndarray((rows, cols), dtype=x.dtype, buffer=nl.shared_hbm)
    i_p = nl.arange(100)[:, None]
    i_f = nl.arange(block)[None, :]
    for t in nl.affine_range(rows // 100):
        for c in nl.affine_range((cols + block - 1) // block):
            row, col = t * 100 + i_p, c * block + i_f
            a = nl.load(x[row, col], mask=(col < cols))
            b = nl.load(y[row, col], mask=(col < cols))
            chosen = nl.where(nl.greater(a, b), nl.multiply(a, ALPHA), b)
            nl.store(out[row, col], value=chosen, mask=(col < cols))
    return out
