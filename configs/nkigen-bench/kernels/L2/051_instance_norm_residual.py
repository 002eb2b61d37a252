"""Rows are (image, channel) pairs; the whole batch is one tile of 108 partitions."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

EPS = 1e-5


@nki.jit
def kernel(x, y):
    batch, channels, height, width = x.shape
    rows, pixels = batch * channels, height * width
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    skip, branch = nl.load(x.reshape((rows, pixels))), nl.load(y.reshape((rows, pixels)))
    summary = nisa.bn_aggr(nisa.bn_stats(branch))
    scale = nl.rsqrt(summary[:, 1:2] + EPS)
    unit = nisa.tensor_scalar(branch, op0=np.subtract, operand0=summary[:, 0:1], op1=np.multiply, operand1=scale)
    nl.store(out.reshape((rows, pixels)), value=nl.relu(nl.add(skip, unit)))
    return out
