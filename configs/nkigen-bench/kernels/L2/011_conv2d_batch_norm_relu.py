"""The normalisation is one scale and one shift a feature: the scalar engine applies them and ReLU at once."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

EPS = 1e-5


@nki.jit
def kernel(x, weight, gain, offset, mean, variance):
    batch, channels, height, width = x.shape
    features, pixels = weight.shape[0], height * width
    out = nl.ndarray((batch, features, height, width), dtype=x.dtype, buffer=nl.shared_hbm)
    source, target = x.reshape((batch, channels, pixels)), out.reshape((batch, features, pixels))
    turned = nl.load_transpose2d(weight.reshape((features, channels)))
    every = nl.ds(0, features)
    scale = nl.load(gain[every]) * nl.rsqrt(nl.load(variance[every]) + EPS)
    shift = nl.load(offset[every]) - nl.load(mean[every]) * scale
    for b in nl.affine_range(batch):
        product = nisa.nc_matmul(turned, nl.load(source[b]))
        nl.store(target[b], value=nisa.activation(op=nl.relu, data=product, scale=scale, bias=shift))
    return out
