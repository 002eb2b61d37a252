"""Group moments by a product with a block matrix; the time vector is a product with one column."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

GROUPS, EPS = 4, 1e-6


@nki.jit
def kernel(x, moment, gain, offset, conv, conv_bias, time, time_bias):
    batch, channels, height, width = x.shape
    embedding, pixels, each = moment.shape[1], height * width, channels // GROUPS
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    sharing = np.kron(np.eye(GROUPS), np.ones((each, each))) / (each * pixels)
    blocks = nl.load(nl.shared_constant(sharing.astype(np.float32)))
    every = nl.ds(0, channels)
    gamma, beta = nl.load(gain[every]), nl.load(offset[every])
    moments_t = nl.silu(nl.load_transpose2d(moment))
    shifts = nl.add(nisa.nc_matmul(nl.load_transpose2d(time), moments_t), nl.load(time_bias[every]))
    shifts = nl.add(shifts, nl.load(conv_bias[every]))
    for b in nl.affine_range(batch):
        image = nl.load(x[b])
        sums = nl.ndarray((channels, 2), dtype=nl.float32, buffer=nl.sbuf)
        sums[:, 0:1] = nl.sum(image, axis=[1, 2])
        sums[:, 1:2] = nl.sum(nl.square(image), axis=[1, 2])
        means = nl.copy(nisa.nc_matmul(blocks, sums))
        variance = nl.subtract(means[:, 1:2], nl.square(means[:, 0:1]))
        scale = nl.multiply(gamma, nl.rsqrt(nl.add(variance, EPS)))
        shift = nl.subtract(beta, nl.multiply(means[:, 0:1], scale))
        frame = nl.zeros((channels, height + 2, width + 2), dtype=nl.float32, buffer=nl.sbuf)
        frame[:, 1:height + 1, 1:width + 1] = nisa.activation(op=nl.silu, data=image, scale=scale, bias=shift)
        acc = nl.zeros((channels, height, width), dtype=nl.float32, buffer=nl.psum)
        for i in nl.static_range(3):
            for j in nl.static_range(3):
                tap = nl.load_transpose2d(conv[0:channels, 0:channels, i, j])
                acc += nisa.nc_matmul(tap, frame[:, i:i + height, j:j + width])
        moved = nisa.tensor_scalar(acc, op0=np.add, operand0=shifts[:, nl.ds(b, 1)])
        nl.store(out[b], value=nl.add(moved, image))
    return out
