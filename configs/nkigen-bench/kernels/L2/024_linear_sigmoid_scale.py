"""Features on partitions: bias and sigmoid in one pass; the result is turned and scaled."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

SCALE = 3.0


@nki.jit
def kernel(x, weight, bias):
    rows, width = x.shape
    features, half, tile = weight.shape[0], width // 2, 125
    out = nl.ndarray((rows, features), dtype=x.dtype, buffer=nl.shared_hbm)
    offset = nl.load(bias[nl.ds(0, features)])
    for t in nl.affine_range(rows // tile):
        acc = nl.zeros((features, tile), dtype=nl.float32, buffer=nl.psum)
        for s in nl.affine_range(2):
            w_t = nl.load_transpose2d(weight[0:features, nl.ds(s * half, half)])
            acc += nisa.nc_matmul(w_t, nl.load_transpose2d(x[nl.ds(t * tile, tile), nl.ds(s * half, half)]))
        active = nisa.activation(op=nl.sigmoid, data=acc, bias=offset)
        turned = nisa.nc_transpose(active)
        nl.store(out[nl.ds(t * tile, tile), 0:features], value=nl.multiply(turned, SCALE))
    return out
