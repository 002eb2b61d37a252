"""Swaps the last two axes through the tensor engine; edge tiles are simply smaller."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    batch, rows, cols = x.shape
    out = nl.ndarray((batch, cols, rows), dtype=x.dtype, buffer=nl.shared_hbm)

    for b in nl.affine_range(batch):
        for r in nl.static_range((rows + 127) // 128):
            for c in nl.static_range((cols + 127) // 128):
                height = min(128, rows - r * 128)
                width = min(128, cols - c * 128)
                tile = nl.load(x[b, nl.ds(r * 128, height), nl.ds(c * 128, width)])
                turned = nl.copy(nisa.nc_transpose(tile), dtype=nl.float32)
                nl.store(out[b, nl.ds(c * 128, width), nl.ds(r * 128, height)], value=turned)
    return out
