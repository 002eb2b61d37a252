"""A pixel row of a patch is the contraction: strided loads bring pixel column j of all patches; 12 products an
image."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

P, EPS = 4, 1e-5


@nki.jit
def kernel(x, first, position, weight, bias, gain, offset):
    batch, channels, height, width = x.shape
    features, count = weight.shape[0], (height // P) * (width // P)
    out = nl.ndarray((batch, count + 1, features), dtype=x.dtype, buffer=nl.shared_hbm)
    i_k = nl.arange(P)[:, None, None]
    i_r, i_c = nl.arange(height // P)[None, :, None], nl.arange(width // P)[None, None, :]
    gamma = nl.load(gain.reshape((1, features))).broadcast_to((count, features))
    beta = nl.load(offset.reshape((1, features))).broadcast_to((count, features))
    shift = nl.load(bias.reshape((1, features))).broadcast_to((count, features))
    places = nl.add(nl.load(position[1:count + 1, 0:features]), shift)

    def normed(rows, height_of):
        centred = rows - nl.mean(rows, axis=1, keepdims=True)
        scale = nl.rsqrt(nl.mean(nl.square(centred), axis=1, keepdims=True) + EPS)
        return centred * scale * gamma[0:height_of, 0:features] + beta[0:height_of, 0:features]

    lead = normed(nl.load(first) + nl.load(position[0:1, 0:features]), 1)
    for b in nl.affine_range(batch):
        acc = nl.zeros((count, features), dtype=nl.float32, buffer=nl.psum)
        for c in nl.static_range(channels):
            for j in nl.static_range(P):
                pixels = nl.copy(nl.load(x[b, c, i_r * P + i_k, i_c * P + j])).reshape((P, count))
                acc += nisa.nc_matmul(pixels, nl.load_transpose2d(weight[0:features, c, 0:P, j]))
        nl.store(out[b, 0:1, 0:features], value=lead)
        nl.store(out[b, 1:count + 1, 0:features], value=normed(nl.add(acc, places), count))
    return out
