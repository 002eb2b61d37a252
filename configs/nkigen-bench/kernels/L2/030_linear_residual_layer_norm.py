"""layer_norm(residual + x @ weight^T + bias): three rows of parameters are spread over the partitions once."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

EPS = 1e-5


@nki.jit
def kernel(x, residual, weight, bias, norm_weight, norm_bias):
    batch, tokens, width = x.shape
    half = width // 2
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    w_t = nl.ndarray((2, nl.par_dim(half), width), dtype=nl.float32, buffer=nl.sbuf)
    for s in nl.affine_range(2):
        for f in nl.affine_range(2):
            block = weight[nl.ds(f * half, half), nl.ds(s * half, half)]
            w_t[s, :, nl.ds(f * half, half)] = nl.load_transpose2d(block)
    offset = nl.load(bias.reshape((1, width))).broadcast_to((tokens, width))
    gamma = nl.load(norm_weight.reshape((1, width))).broadcast_to((tokens, width))
    beta = nl.load(norm_bias.reshape((1, width))).broadcast_to((tokens, width))
    for b in nl.affine_range(batch):
        acc = nl.zeros((tokens, width), dtype=nl.float32, buffer=nl.psum)
        for s in nl.affine_range(2):
            acc += nisa.nc_matmul(nl.load_transpose2d(x[b, 0:tokens, nl.ds(s * half, half)]), w_t[s])
        total = nl.add(nl.add(acc, offset), nl.load(residual[b]))
        centred = nl.subtract(total, nl.mean(total, axis=1, keepdims=True))
        scale = nl.rsqrt(nl.add(nl.mean(nl.square(centred), axis=1, keepdims=True), EPS))
        nl.store(out[b], value=nl.add(nl.multiply(nl.multiply(centred, scale), gamma), beta))
    return out
