"""The grown image never leaves the chip: tensor engine, vector engine, tensor engine."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, up, up_bias, depth, depth_bias, down, down_bias):
    batch, channels, height, width = x.shape
    grown = up.shape[0]
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    up_t = nl.load_transpose2d(up.reshape((grown, channels)))
    down_t = nl.load_transpose2d(down.reshape((channels, grown)))
    taps = nl.load(depth.reshape((grown, 9)))
    shift_up, shift_depth = nl.load(up_bias[nl.ds(0, grown)]), nl.load(depth_bias[nl.ds(0, grown)])
    shift_down = nl.load(down_bias[nl.ds(0, channels)])
    for b in nl.affine_range(batch):
        image = nl.load(x[b])
        wide = nl.minimum(nisa.activation(op=nl.relu, data=nisa.nc_matmul(up_t, image), bias=shift_up), 6.0)
        frame = nl.zeros((grown, height + 2, width + 2), dtype=nl.float32, buffer=nl.sbuf)
        frame[:, 1:height + 1, 1:width + 1] = wide
        mixed = nl.zeros((grown, height, width), dtype=nl.float32, buffer=nl.sbuf)
        for k in nl.static_range(9):
            window = frame[:, k // 3:k // 3 + height, k % 3:k % 3 + width]
            mixed += nisa.tensor_scalar(window, op0=np.multiply, operand0=taps[:, k:k + 1])
        held = nl.minimum(nisa.activation(op=nl.relu, data=mixed, bias=shift_depth), 6.0)
        narrow = nisa.tensor_scalar(nisa.nc_matmul(down_t, held), op0=np.add, operand0=shift_down)
        nl.store(out[b], value=nl.add(image, narrow))
    return out
