"""The image is laid into a frame of zeros; each of nine taps is a product on a shifted window."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight, bias):
    batch, channels, height, width = x.shape
    features = weight.shape[0]
    out = nl.ndarray((batch, features, height, width), dtype=x.dtype, buffer=nl.shared_hbm)
    i_f, i_c = nl.arange(features)[:, None], nl.arange(channels)[None, :]
    offset = nl.load(bias[nl.ds(0, features)])
    for b in nl.affine_range(batch):
        frame = nl.zeros((channels, height + 2, width + 2), dtype=nl.float32, buffer=nl.sbuf)
        frame[:, 1:height + 1, 1:width + 1] = nl.load(x[b])
        acc = nl.zeros((features, height, width), dtype=nl.float32, buffer=nl.psum)
        for i in nl.static_range(3):
            for j in nl.static_range(3):
                tap = nl.load_transpose2d(weight[i_f, i_c, i, j])
                acc += nisa.nc_matmul(tap, frame[:, i:i + height, j:j + width])
        nl.store(out[b], value=nl.add(acc, offset.reshape((features, 1, 1))))
    return out
