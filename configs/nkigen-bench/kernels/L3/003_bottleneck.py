"""relu(x + expand(relu(mix(relu(reduce(x)))))) with 1 x 1 convolutions: channels contract on partitions."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, reduce_w, reduce_b, mix_w, mix_b, expand_w, expand_b):
    batch, channels, height, width = x.shape
    inner = reduce_w.shape[0]
    pixels = height * width
    chunk = 96
    chunks = channels // chunk
    flat = x.reshape((batch, channels, pixels))
    out = nl.ndarray((batch, channels, height, width), dtype=nl.float32, buffer=nl.shared_hbm)
    reduce_2d = reduce_w.reshape((inner, channels))
    expand_2d = expand_w.reshape((channels, inner))
    i_i, j_i = nl.arange(inner)[:, None], nl.arange(inner)[None, :]
    i_c, j_c = nl.arange(chunk)[:, None], nl.arange(chunk)[None, :]
    i_f = nl.arange(pixels)[None, :]

    mix_t = nl.load_transpose2d(mix_w.reshape((inner, inner))[i_i, j_i])
    reduce_shift = nl.load(reduce_b[nl.ds(0, inner)])
    mix_shift = nl.load(mix_b[nl.ds(0, inner)])

    for b in nl.affine_range(batch):
        acc = nl.zeros((inner, pixels), dtype=nl.float32, buffer=nl.psum)
        for c in nl.affine_range(chunks):
            reduce_t = nl.load_transpose2d(reduce_2d[i_i, c * chunk + j_c])
            image = nl.load(flat[b, c * chunk + i_c, i_f])
            acc += nisa.nc_matmul(reduce_t, image)
        first = nisa.activation(op=nl.relu, data=acc, bias=reduce_shift)
        second = nisa.activation(op=nl.relu, data=nisa.nc_matmul(mix_t, first), bias=mix_shift)
        for c in nl.affine_range(chunks):
            expand_t = nl.load_transpose2d(expand_2d[c * chunk + i_c, j_i])
            shift = nl.load(expand_b[nl.ds(c * chunk, chunk)])
            grown = nl.add(nisa.nc_matmul(expand_t, second), shift)
            skip = nl.load(flat[b, c * chunk + i_c, i_f])
            total = nl.maximum(nl.add(grown, skip), 0.0)
            nl.store(out[b, nl.ds(c * chunk, chunk), 0:height, 0:width], value=total.reshape((chunk, height, width)))
    return out
