"""silu of bfloat16 values; the scalar engine computes in float32 and writes float32."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    rows, cols = x.shape
    out = nl.ndarray((rows, cols), dtype=nl.float32, buffer=nl.shared_hbm)
    for t in nl.affine_range(rows // 128):
        tile = nl.load(x[nl.ds(t * 128, 128), 0:cols])
        active = nisa.activation(op=nl.silu, data=tile, dtype=nl.float32)
        nl.store(out[nl.ds(t * 128, 128), 0:cols], value=active)
    return out
