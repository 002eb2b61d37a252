"""The grown image waits in SBUF while its means pass through the two small layers."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, reduce, mix, expand, down, down_bias, up, up_bias):
    batch, channels, height, width = x.shape
    inner, squeezed = reduce.shape[0], down.shape[0]
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    reduce_t = nl.load_transpose2d(reduce.reshape((inner, channels)))
    expand_t = nl.load_transpose2d(expand.reshape((channels, inner)))
    down_t, up_t = nl.load_transpose2d(down), nl.load_transpose2d(up)
    low, high = nl.load(down_bias[nl.ds(0, squeezed)]), nl.load(up_bias[nl.ds(0, channels)])
    for b in nl.affine_range(batch):
        image = nl.load(x[b])
        frame = nl.zeros((inner, height + 2, width + 2), dtype=nl.float32, buffer=nl.sbuf)
        frame[:, 1:height + 1, 1:width + 1] = nl.relu(nisa.nc_matmul(reduce_t, image))
        acc = nl.zeros((inner, height, width), dtype=nl.float32, buffer=nl.psum)
        for i in nl.static_range(3):
            for j in nl.static_range(3):
                tap = nl.load_transpose2d(mix[0:inner, 0:inner, i, j])
                acc += nisa.nc_matmul(tap, frame[:, i:i + height, j:j + width])
        grown = nl.copy(nisa.nc_matmul(expand_t, nl.relu(acc)))
        means = nl.mean(grown, axis=[1, 2])
        middle = nisa.activation(op=nl.relu, data=nisa.nc_matmul(down_t, means), bias=low)
        gate = nisa.activation(op=nl.sigmoid, data=nisa.nc_matmul(up_t, middle), bias=high)
        gated = nisa.tensor_scalar(grown, op0=np.multiply, operand0=gate)
        nl.store(out[b], value=nl.relu(nl.add(image, gated)))
    return out
