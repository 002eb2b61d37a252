"""Tap k of input step t lands on output step 2 t + k - 1: each tap adds a product to every other column."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight, bias):
    batch, channels, length = x.shape
    features = weight.shape[1]
    out = nl.ndarray((batch, features, 2 * length), dtype=x.dtype, buffer=nl.shared_hbm)
    taps = nl.load(weight)
    offset = nl.load(bias[nl.ds(0, features)])
    i_f, i_t = nl.arange(features)[:, None], nl.arange(length)[None, :]
    i_o = nl.arange(2 * length)[None, :]
    for b in nl.affine_range(batch):
        signal = nl.load(x[b])
        grown = nl.zeros((features, 2 * length + 2), dtype=nl.float32, buffer=nl.sbuf)
        for k in nl.static_range(4):
            part = nisa.nc_matmul(taps[:, :, k], signal)
            grown[i_f, 2 * i_t + k] = nl.add(grown[i_f, 2 * i_t + k], part)
        nl.store(out[b], value=nl.add(grown[i_f, i_o + 1], offset))
    return out
