"""All branches read one loaded image; each stores its own channels of the result."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

FILL = -3.0e38


def pointwise(weight, image, bias, features):
    turned = nl.load_transpose2d(weight.reshape((features, weight.shape[1])))
    product = nisa.nc_matmul(turned, image)
    return nisa.activation(op=nl.relu, data=product, bias=nl.load(bias[nl.ds(0, features)]))


@nki.jit
def kernel(x, point, point_b, narrow, narrow_b, wide, wide_b, pooled, pooled_b):
    batch, channels, height, width = x.shape
    a, n, c, d = point.shape[0], narrow.shape[0], wide.shape[0], pooled.shape[0]
    out = nl.ndarray((batch, a + c + d, height, width), dtype=x.dtype, buffer=nl.shared_hbm)
    for b in nl.affine_range(batch):
        image = nl.load(x[b])
        nl.store(out[b, 0:a], value=pointwise(point, image, point_b, a))
        frame = nl.zeros((n, height + 2, width + 2), dtype=nl.float32, buffer=nl.sbuf)
        frame[:, 1:height + 1, 1:width + 1] = pointwise(narrow, image, narrow_b, n)
        acc = nl.zeros((c, height, width), dtype=nl.float32, buffer=nl.psum)
        for i in nl.static_range(3):
            for j in nl.static_range(3):
                acc += nisa.nc_matmul(nl.load_transpose2d(wide[0:c, 0:n, i, j]), frame[:, i:i + height, j:j + width])
        nl.store(out[b, a:a + c], value=nisa.activation(op=nl.relu, data=acc, bias=nl.load(wide_b[nl.ds(0, c)])))
        edge = nl.full((channels, height + 2, width + 2), FILL, dtype=nl.float32, buffer=nl.sbuf)
        edge[:, 1:height + 1, 1:width + 1] = nl.copy(image)
        best = nl.copy(image)
        for k in nl.static_range(9):
            best[...] = nl.maximum(best, edge[:, k // 3:k // 3 + height, k % 3:k % 3 + width])
        nl.store(out[b, a + c:a + c + d], value=pointwise(pooled, best, pooled_b, d))
    return out
