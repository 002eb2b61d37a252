"""sqrt(x^2 + y^2): bfloat16 tiles are widened while they are loaded."""
from neuronxcc import nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, y):
    rows, cols = x.shape
    out = nl.ndarray((rows, cols), dtype=nl.float32, buffer=nl.shared_hbm)
    i_p = nl.arange(100)[:, None]
    i_f = nl.arange(cols)[None, :]
    for t in nl.affine_range(rows // 100):
        a = nl.load(x[t * 100 + i_p, i_f], dtype=nl.float32)
        b = nl.load(y[t * 100 + i_p, i_f], dtype=nl.float32)
        nl.store(out[t * 100 + i_p, i_f], value=nl.sqrt(nl.add(nl.square(a), nl.square(b))))
    return out
