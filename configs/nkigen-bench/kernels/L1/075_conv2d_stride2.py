"""Windows with a stride of two: the index grid steps by two along both axes of the image."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight):
    batch, channels, height, width = x.shape
    features = weight.shape[0]
    rows, cols = (height - 3) // 2 + 1, (width - 3) // 2 + 1
    out = nl.ndarray((batch, features, rows, cols), dtype=x.dtype, buffer=nl.shared_hbm)
    i_c = nl.arange(channels)[:, None, None]
    i_y, i_x = nl.arange(rows)[None, :, None], nl.arange(cols)[None, None, :]
    for b in nl.affine_range(batch):
        image = nl.load(x[b])
        acc = nl.zeros((features, rows, cols), dtype=nl.float32, buffer=nl.psum)
        for i in nl.static_range(3):
            for j in nl.static_range(3):
                tap = nl.load_transpose2d(weight[0:features, 0:channels, i, j])
                window = nl.copy(image[i_c, 2 * i_y + i, 2 * i_x + j])
                acc += nisa.nc_matmul(tap, window)
        nl.store(out[b], value=nl.copy(acc))
    return out
