"""relu(scale * (x @ w) + residual): x is turned on the tensor engine, the epilogue reads PSUM."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

SCALE = 0.125


@nki.jit
def kernel(x, w, residual):
    m, k = x.shape
    n = w.shape[1]
    tile_k = 64
    out = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.shared_hbm)

    for mt in nl.affine_range(m // 128):
        acc = nl.zeros((128, n), dtype=nl.float32, buffer=nl.psum)
        for kt in nl.affine_range(k // tile_k):
            x_tile = nl.load(x[nl.ds(mt * 128, 128), nl.ds(kt * tile_k, tile_k)])
            x_t = nl.copy(nisa.nc_transpose(x_tile), dtype=nl.float32)
            w_tile = nl.load(w[nl.ds(kt * tile_k, tile_k), 0:n])
            acc += nisa.nc_matmul(x_t, w_tile)
        scaled = nl.multiply(acc, SCALE)
        skip = nl.load(residual[nl.ds(mt * 128, 128), 0:n])
        result = nl.maximum(nl.add(scaled, skip), 0.0)
        nl.store(out[nl.ds(mt * 128, 128), 0:n], value=result)
    return out
