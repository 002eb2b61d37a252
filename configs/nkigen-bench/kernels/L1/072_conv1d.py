"""A convolution is one product a tap, on a shifted window of the signal, summed in PSUM."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight, bias):
    batch, channels, length = x.shape
    features, _, taps = weight.shape
    steps = length - taps + 1
    out = nl.ndarray((batch, features, steps), dtype=x.dtype, buffer=nl.shared_hbm)
    raw = nl.load(weight)
    turned = nl.ndarray((nl.par_dim(channels), taps, features), dtype=nl.float32, buffer=nl.sbuf)
    for k in nl.affine_range(taps):
        turned[:, k, :] = nl.copy(nisa.nc_transpose(raw[:, :, k]))
    offset = nl.load(bias[nl.ds(0, features)])
    for b in nl.affine_range(batch):
        signal = nl.load(x[b])
        acc = nl.zeros((features, steps), dtype=nl.float32, buffer=nl.psum)
        for k in nl.affine_range(taps):
            acc += nisa.nc_matmul(turned[:, k, :], signal[:, nl.ds(k, steps)])
        nl.store(out[b], value=nl.add(acc, offset))
    return out
