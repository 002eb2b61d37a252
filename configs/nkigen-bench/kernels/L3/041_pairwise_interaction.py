"""Products of each example lie side by side; the layer then sums over partitions, one vector's products at a time."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(numbers, vectors, bottom, bottom_bias, top, top_bias):
    batch, features, width = vectors.shape
    hidden, count = top.shape[0], features + 1
    out = nl.ndarray((batch, hidden), dtype=numbers.dtype, buffer=nl.shared_hbm)
    mapped = nisa.nc_matmul(nl.load_transpose2d(bottom), nl.load_transpose2d(numbers))
    first = nisa.activation(op=nl.relu, data=mapped, bias=nl.load(bottom_bias[nl.ds(0, width)]))
    products = nl.ndarray((nl.par_dim(count), count, batch), dtype=nl.float32, buffer=nl.sbuf)
    for b in nl.affine_range(batch):
        turned = nl.ndarray((width, count), dtype=nl.float32, buffer=nl.sbuf)
        turned[:, 0:1] = nl.copy(first[:, nl.ds(b, 1)])
        turned[:, 1:count] = nl.load_transpose2d(vectors[b])
        products[:, :, b] = nl.copy(nisa.nc_matmul(turned, turned))
    acc = nl.zeros((hidden, batch), dtype=nl.float32, buffer=nl.psum)
    for v in nl.affine_range(count):
        weight = nl.load_transpose2d(top[0:hidden, nl.ds(v * count, count)])
        acc += nisa.nc_matmul(weight, products[:, v, :])
    result = nisa.activation(op=nl.relu, data=acc, bias=nl.load(top_bias[nl.ds(0, hidden)]))
    nl.store(out, value=nl.copy(nisa.nc_transpose(result)))
    return out
