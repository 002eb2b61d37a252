"""min(relu(x), 6): two images' halves share the partitions, 64 channels each."""
from neuronxcc import nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    batch, channels, height, width = x.shape
    pixels = height * width
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    flat, flat_out = x.reshape((batch * channels, pixels)), out.reshape((batch * channels, pixels))
    for t in nl.affine_range(batch * channels // 96):
        tile = nl.load(flat[nl.ds(t * 96, 96), 0:pixels])
        nl.store(flat_out[nl.ds(t * 96, 96), 0:pixels], value=nl.minimum(nl.relu(tile), 6.0))
    return out
