"""A zero at each end of the signal, three products, GELU with the bias."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight, bias):
    batch, channels, length = x.shape
    features = weight.shape[0]
    out = nl.ndarray((batch, features, length), dtype=x.dtype, buffer=nl.shared_hbm)
    i_f, i_c = nl.arange(features)[:, None], nl.arange(channels)[None, :]
    offset = nl.load(bias[nl.ds(0, features)])
    for b in nl.affine_range(batch):
        signal = nl.zeros((channels, length + 2), dtype=nl.float32, buffer=nl.sbuf)
        signal[:, 1:length + 1] = nl.load(x[b])
        acc = nl.zeros((features, length), dtype=nl.float32, buffer=nl.psum)
        for k in nl.static_range(3):
            acc += nisa.nc_matmul(nl.load_transpose2d(weight[i_f, i_c, k]), signal[:, k:k + length])
        nl.store(out[b], value=nisa.activation(op=nl.gelu, data=acc, bias=offset))
    return out
