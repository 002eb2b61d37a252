"""Three products on windows that start four steps apart."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

GAP = 4


@nki.jit
def kernel(x, weight, bias):
    batch, channels, length = x.shape
    features = weight.shape[0]
    steps = length - 2 * GAP
    out = nl.ndarray((batch, features, steps), dtype=x.dtype, buffer=nl.shared_hbm)
    offset = nl.load(bias[nl.ds(0, features)])
    i_c, i_t = nl.arange(channels)[:, None], nl.arange(steps)[None, :]
    i_f, j_c = nl.arange(features)[:, None], nl.arange(channels)[None, :]
    for b in nl.affine_range(batch):
        acc = nl.zeros((features, steps), dtype=nl.float32, buffer=nl.psum)
        for k in nl.static_range(3):
            window = nl.load(x[b, i_c, i_t + k * GAP])
            acc += nisa.nc_matmul(nl.load_transpose2d(weight[i_f, j_c, k]), window)
        nl.store(out[b], value=nisa.activation(op=nl.copy, data=nl.add(acc, offset)))
    return out
