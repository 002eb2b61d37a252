"""Every tile at an edge is smaller: Python's min over static loops."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(a, b):
    m, k = a.shape
    n = b.shape[1]
    out = nl.ndarray((m, n), dtype=a.dtype, buffer=nl.shared_hbm)
    for mt in nl.static_range((m + 127) // 128):
        rows = min(128, m - mt * 128)
        for nt in nl.static_range((n + 511) // 512):
            cols = min(512, n - nt * 512)
            acc = nl.zeros((rows, cols), dtype=nl.float32, buffer=nl.psum)
            for kt in nl.static_range((k + 127) // 128):
                deep = min(128, k - kt * 128)
                left = nl.load_transpose2d(a[nl.ds(mt * 128, rows), nl.ds(kt * 128, deep)])
                right = nl.load(b[nl.ds(kt * 128, deep), nl.ds(nt * 512, cols)])
                acc += nisa.nc_matmul(left, right)
            nl.store(out[nl.ds(mt * 128, rows), nl.ds(nt * 512, cols)], value=nl.copy(acc))
    return out
