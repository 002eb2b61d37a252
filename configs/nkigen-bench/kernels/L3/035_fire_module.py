"""The squeezed image is kept in a frame of zeros: its middle window serves the 1 x 1 branch as well."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, squeeze, squeeze_b, one, one_b, three, three_b):
    batch, channels, height, width = x.shape
    squeezed, features = squeeze.shape[0], one.shape[0]
    out = nl.ndarray((batch, 2 * features, height, width), dtype=x.dtype, buffer=nl.shared_hbm)
    squeeze_t = nl.load_transpose2d(squeeze.reshape((squeezed, channels)))
    one_t = nl.load_transpose2d(one.reshape((features, squeezed)))
    low = nl.load(squeeze_b[nl.ds(0, squeezed)])
    shift_1, shift_3 = nl.load(one_b[nl.ds(0, features)]), nl.load(three_b[nl.ds(0, features)])
    for b in nl.affine_range(batch):
        frame = nl.zeros((squeezed, height + 2, width + 2), dtype=nl.float32, buffer=nl.sbuf)
        few = nisa.nc_matmul(squeeze_t, nl.load(x[b]))
        frame[:, 1:height + 1, 1:width + 1] = nisa.activation(op=nl.relu, data=few, bias=low)
        middle = nisa.nc_matmul(one_t, frame[:, 1:height + 1, 1:width + 1])
        nl.store(out[b, 0:features], value=nisa.activation(op=nl.relu, data=middle, bias=shift_1))
        acc = nl.zeros((features, height, width), dtype=nl.float32, buffer=nl.psum)
        for i in nl.static_range(3):
            for j in nl.static_range(3):
                tap = nl.load_transpose2d(three[0:features, 0:squeezed, i, j])
                acc += nisa.nc_matmul(tap, frame[:, i:i + height, j:j + width])
        nl.store(out[b, features:2 * features], value=nisa.activation(op=nl.relu, data=acc, bias=shift_3))
    return out
