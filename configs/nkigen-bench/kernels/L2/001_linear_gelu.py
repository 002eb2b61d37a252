"""gelu(x @ weight^T + bias): the weight is turned once and stays in SBUF."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight, bias):
    rows, k = x.shape
    n = weight.shape[0]
    tile_m = 100
    steps = k // 128
    out = nl.ndarray((rows, n), dtype=x.dtype, buffer=nl.shared_hbm)
    i_p = nl.arange(128)[:, None]
    i_f = nl.arange(128)[None, :]
    i_m = nl.arange(tile_m)[:, None]
    i_n = nl.arange(n)[None, :]

    w_t = nl.ndarray((steps, nl.par_dim(128), n), dtype=nl.float32, buffer=nl.sbuf)
    for kt in nl.affine_range(steps):
        for nt in nl.affine_range(n // 128):
            w_t[kt, i_p, nt * 128 + i_f] = nl.load_transpose2d(weight[nt * 128 + i_p, kt * 128 + i_f])
    offset = nl.load(bias.reshape((1, n)))

    for mt in nl.affine_range(rows // tile_m):
        acc = nl.zeros((tile_m, n), dtype=nl.float32, buffer=nl.psum)
        for kt in nl.affine_range(steps):
            x_t = nl.load_transpose2d(x[mt * tile_m + i_m, kt * 128 + i_f])
            acc += nisa.nc_matmul(x_t, w_t[kt, i_p, i_n])
        shifted = nl.add(acc, offset.broadcast_to((tile_m, n)))
        nl.store(out[mt * tile_m + i_m, i_n], value=nl.gelu(shifted))
    return out
