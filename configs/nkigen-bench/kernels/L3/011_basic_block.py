"""Each normalisation is a scale and a shift of the sums in PSUM; the frame of zeros is filled twice an image."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

EPS = 1e-5


def folded(gain, offset, mean, variance, channels):
    every = nl.ds(0, channels)
    scale = nl.load(gain[every]) * nl.rsqrt(nl.load(variance[every]) + EPS)
    return scale, nl.load(offset[every]) - nl.load(mean[every]) * scale


def turned_taps(weight, channels):
    raw = nl.load(weight.reshape((channels, channels, 9)))
    taps = nl.ndarray((nl.par_dim(channels), 9, channels), dtype=nl.float32, buffer=nl.sbuf)
    for k in nl.static_range(9):
        taps[:, k, :] = nl.copy(nisa.nc_transpose(raw[:, :, k]))
    return taps


def conv(taps, frame, channels, height, width):
    acc = nl.zeros((channels, height, width), dtype=nl.float32, buffer=nl.psum)
    for k in nl.static_range(9):
        window = frame[:, k // 3:k // 3 + height, k % 3:k % 3 + width]
        acc += nisa.nc_matmul(taps[:, k, :], window)
    return acc


@nki.jit
def kernel(x, w_1, w_2, gain_1, offset_1, gain_2, offset_2, mean_1, var_1, mean_2, var_2):
    batch, channels, height, width = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    scale_1, shift_1 = folded(gain_1, offset_1, mean_1, var_1, channels)
    scale_2, shift_2 = folded(gain_2, offset_2, mean_2, var_2, channels)
    taps_1, taps_2 = turned_taps(w_1, channels), turned_taps(w_2, channels)
    for b in nl.affine_range(batch):
        image = nl.load(x[b])
        frame = nl.zeros((channels, height + 2, width + 2), dtype=nl.float32, buffer=nl.sbuf)
        frame[:, 1:height + 1, 1:width + 1] = nl.copy(image)
        sums = conv(taps_1, frame, channels, height, width)
        middle = nl.zeros((channels, height + 2, width + 2), dtype=nl.float32, buffer=nl.sbuf)
        middle[:, 1:height + 1, 1:width + 1] = nisa.activation(op=nl.relu, data=sums, scale=scale_1, bias=shift_1)
        sums = conv(taps_2, middle, channels, height, width)
        normed = nisa.tensor_scalar(sums, op0=np.multiply, operand0=scale_2, op1=np.add, operand1=shift_2)
        nl.store(out[b], value=nl.relu(nl.add(normed, image)))
    return out
