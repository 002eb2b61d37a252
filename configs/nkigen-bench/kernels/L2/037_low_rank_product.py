"""The middle is made transposed, (rank, rows), so it can be the stationary operand of the second product at once."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, down, up):
    rows, width = x.shape
    rank, features = up.shape
    tile = 115
    out = nl.ndarray((rows, features), dtype=x.dtype, buffer=nl.shared_hbm)
    second = nl.load(up)
    for t in nl.affine_range(rows // tile):
        acc = nl.zeros((rank, tile), dtype=nl.float32, buffer=nl.psum)
        for s in nl.affine_range(width // 128):
            first = nl.load(down[nl.ds(s * 128, 128), 0:rank])
            acc += nisa.nc_matmul(first, nl.load_transpose2d(x[nl.ds(t * tile, tile), nl.ds(s * 128, 128)]))
        middle = nl.copy(acc, dtype=nl.float32)
        nl.store(out[nl.ds(t * tile, tile), 0:features], value=nl.copy(nisa.nc_matmul(middle, second)))
    return out
