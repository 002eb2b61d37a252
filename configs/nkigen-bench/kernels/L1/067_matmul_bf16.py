"""bfloat16 operands go to the tensor engine as they are; PSUM sums them in float32."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(a, b):
    m, k = a.shape
    n = b.shape[1]
    out = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.shared_hbm)
    i_p, i_f = nl.mgrid[0:128, 0:128]
    for mt in nl.affine_range(m // 128):
        acc = nl.zeros((128, n), dtype=nl.float32, buffer=nl.psum)
        for kt in nl.affine_range(k // 128):
            left = nl.load_transpose2d(a[mt * 128 + i_p, kt * 128 + i_f])
            acc += nisa.nc_matmul(left, nl.load(b[nl.ds(kt * 128, 128), 0:n]))
        nl.store(out[nl.ds(mt * 128, 128), 0:n], value=nl.copy(acc, dtype=nl.float32))
    return out
