"""Value and gate are two accumulations over the same windows."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight, bias):
    batch, channels, length = x.shape
    features = weight.shape[0] // 2
    steps = length - 2
    out = nl.ndarray((batch, features, steps), dtype=x.dtype, buffer=nl.shared_hbm)
    i_f, i_c = nl.arange(features)[:, None], nl.arange(channels)[None, :]
    for b in nl.affine_range(batch):
        signal = nl.load(x[b])
        value = nl.zeros((features, steps), dtype=nl.float32, buffer=nl.psum)
        gate = nl.zeros((features, steps), dtype=nl.float32, buffer=nl.psum)
        for k in nl.static_range(3):
            window = signal[:, k:k + steps]
            value += nisa.nc_matmul(nl.load_transpose2d(weight[i_f, i_c, k]), window)
            gate += nisa.nc_matmul(nl.load_transpose2d(weight[features + i_f, i_c, k]), window)
        opened = nisa.activation(op=nl.sigmoid, data=gate, bias=nl.load(bias[nl.ds(features, features)]))
        shifted = nl.add(value, nl.load(bias[nl.ds(0, features)]))
        nl.store(out[b], value=nl.multiply(shifted, opened))
    return out
