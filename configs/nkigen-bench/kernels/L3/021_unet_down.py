"""Two results: the image for the skip, and its maxima as (rows, 2, cols, 2)."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

def conv_relu(frame, weight, bias, height, width):
    features, channels = weight.shape[0], weight.shape[1]
    acc = nl.zeros((features, height, width), dtype=nl.float32, buffer=nl.psum)
    for i in nl.static_range(3):
        for j in nl.static_range(3):
            tap = nl.load_transpose2d(weight[0:features, 0:channels, i, j])
            acc += nisa.nc_matmul(tap, frame[:, i:i + height, j:j + width])
    return nisa.activation(op=nl.relu, data=acc, bias=nl.load(bias[nl.ds(0, features)]))


@nki.jit
def kernel(x, first, first_bias, second, second_bias):
    batch, channels, height, width = x.shape
    features = first.shape[0]
    kept = nl.ndarray((batch, features, height, width), dtype=x.dtype, buffer=nl.shared_hbm)
    small = nl.ndarray((batch, features, height // 2, width // 2), dtype=x.dtype, buffer=nl.shared_hbm)
    for b in nl.affine_range(batch):
        frame = nl.zeros((channels, height + 2, width + 2), dtype=nl.float32, buffer=nl.sbuf)
        frame[:, 1:height + 1, 1:width + 1] = nl.load(x[b])
        middle = nl.zeros((features, height + 2, width + 2), dtype=nl.float32, buffer=nl.sbuf)
        middle[:, 1:height + 1, 1:width + 1] = conv_relu(frame, first, first_bias, height, width)
        image = conv_relu(middle, second, second_bias, height, width)
        nl.store(kept[b], value=image)
        pairs = image.reshape((features, height // 2, 2, width // 2, 2))
        nl.store(small[b], value=nl.max(pairs, axis=[2, 4]))
    return kept, small
