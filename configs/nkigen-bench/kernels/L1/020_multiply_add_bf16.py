"""x * y + z: the product is kept in float32, else it would be rounded to bfloat16."""
from neuronxcc import nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, y, z):
    batch, rows, cols = x.shape
    out = nl.ndarray((batch, rows, cols), dtype=nl.float32, buffer=nl.shared_hbm)
    i_p = nl.arange(128)[:, None]
    i_f = nl.arange(cols)[None, :]
    for b in nl.affine_range(batch):
        for t in nl.affine_range((rows + 127) // 128):
            row = t * 128 + i_p
            a = nl.load(x[b, row, i_f], mask=(row < rows))
            factor = nl.load(y[b, row, i_f], mask=(row < rows))
            c = nl.load(z[b, row, i_f], mask=(row < rows))
            product = nl.multiply(a, factor, dtype=nl.float32)
            nl.store(out[b, row, i_f], value=nl.add(product, c, dtype=nl.float32), mask=(row < rows))
    return out
