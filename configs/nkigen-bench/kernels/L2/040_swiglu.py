"""Gate and value are two PSUM tiles of the same rows; silu reads one, the product the other."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, gate, value):
    rows, width = x.shape
    hidden, tile = gate.shape[0], 70
    out = nl.ndarray((rows, hidden), dtype=x.dtype, buffer=nl.shared_hbm)
    gate_t = nl.ndarray((nl.par_dim(width), hidden), dtype=nl.float32, buffer=nl.sbuf)
    value_t = nl.ndarray((nl.par_dim(width), hidden), dtype=nl.float32, buffer=nl.sbuf)
    for h in nl.affine_range(hidden // 100):
        gate_t[:, nl.ds(h * 100, 100)] = nl.load_transpose2d(gate[nl.ds(h * 100, 100), 0:width])
        value_t[:, nl.ds(h * 100, 100)] = nl.load_transpose2d(value[nl.ds(h * 100, 100), 0:width])
    for t in nl.affine_range(rows // tile):
        turned = nl.load_transpose2d(x[nl.ds(t * tile, tile), 0:width])
        opened = nl.silu(nisa.nc_matmul(turned, gate_t))
        nl.store(out[nl.ds(t * tile, tile), 0:hidden], value=nl.multiply(opened, nisa.nc_matmul(turned, value_t)))
    return out
