"""Nine products into PSUM; bias and ReLU are one pass of the scalar engine on the way out."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight, bias):
    batch, channels, height, width = x.shape
    features = weight.shape[0]
    rows, cols = height - 2, width - 2
    out = nl.ndarray((batch, features, rows, cols), dtype=x.dtype, buffer=nl.shared_hbm)
    raw = nl.load(weight)
    taps = nl.ndarray((nl.par_dim(channels), 3, 3, features), dtype=nl.float32, buffer=nl.sbuf)
    for i in nl.affine_range(3):
        for j in nl.affine_range(3):
            taps[:, i, j, :] = nl.copy(nisa.nc_transpose(raw[:, :, i, j]))
    offset = nl.load(bias[nl.ds(0, features)])
    for b in nl.affine_range(batch):
        image = nl.load(x[b])
        acc = nl.zeros((features, rows, cols), dtype=nl.float32, buffer=nl.psum)
        for i in nl.affine_range(3):
            for j in nl.affine_range(3):
                acc += nisa.nc_matmul(taps[:, i, j, :], image[:, nl.ds(i, rows), nl.ds(j, cols)])
        nl.store(out[b], value=nisa.activation(op=nl.relu, data=acc, bias=offset))
    return out
