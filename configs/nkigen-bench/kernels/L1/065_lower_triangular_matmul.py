"""tril(a) @ b: blocks above the diagonal are left out, those on it are cut by affine_select."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(a, b):
    size, cols = a.shape[0], b.shape[1]
    tile = 100
    out = nl.ndarray((size, cols), dtype=a.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.arange(tile)[:, None], nl.arange(tile)[None, :]
    for mt in nl.static_range(size // tile):
        acc = nl.zeros((tile, cols), dtype=nl.float32, buffer=nl.psum)
        for kt in nl.static_range(mt + 1):
            # transposed: the partition is the column of a, the free axis its row
            turned = nl.load_transpose2d(a[mt * tile + i_p, kt * tile + i_f])
            if kt == mt:
                turned = nisa.affine_select(pred=(i_f >= i_p), on_true_tile=turned, on_false_value=0.0)
            acc += nisa.nc_matmul(turned, nl.load(b[nl.ds(kt * tile, tile), 0:cols]))
        nl.store(out[nl.ds(mt * tile, tile), 0:cols], value=nl.multiply(acc, 0.2))
    return out
