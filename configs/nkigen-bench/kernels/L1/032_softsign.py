"""x / (1 + |x|), seven tiles of 60 rows."""
from neuronxcc import nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    rows, cols = x.shape
    out = nl.ndarray((rows, cols), dtype=x.dtype, buffer=nl.shared_hbm)
    for t in range(rows // 60):
        tile = nl.load(x[nl.ds(t * 60, 60), :])
        nl.store(out[nl.ds(t * 60, 60), :], value=tile / (nl.abs(tile) + 1.0))
    return out
