"""The three-operand instruction of the vector engine: (product * alpha) + scaled c."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

ALPHA, BETA = 0.1, -0.7


@nki.jit
def kernel(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    tile, step = 75, 75
    out = nl.ndarray((m, n), dtype=a.dtype, buffer=nl.shared_hbm)
    for t in nl.affine_range(m // tile):
        acc = nl.zeros((tile, n), dtype=nl.float32, buffer=nl.psum)
        for s in nl.affine_range(k // step):
            left = nl.load_transpose2d(a[nl.ds(t * tile, tile), nl.ds(s * step, step)])
            acc += nisa.nc_matmul(left, nl.load(b[nl.ds(s * step, step), 0:n]))
        scaled = nl.multiply(nl.load(c[nl.ds(t * tile, tile), 0:n]), BETA)
        total = nisa.scalar_tensor_tensor(data=acc, op0=np.multiply, operand0=ALPHA, op1=np.add, operand1=scaled)
        nl.store(out[nl.ds(t * tile, tile), 0:n], value=total)
    return out
