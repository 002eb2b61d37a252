"""The gate of an expert is its probability where it is the largest of the row, else zero: no data-dependent control
flow."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, up, down, router):
    batch, tokens, width = x.shape
    experts, _, hidden = up.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    router_t = nl.load_transpose2d(router)
    for b in nl.affine_range(batch):
        x_t = nl.load_transpose2d(x[b, 0:tokens, 0:width])
        gates = nl.softmax(nl.copy(nisa.nc_matmul(x_t, router_t)), axis=-1)
        top = nl.max(gates, axis=1, keepdims=True)
        gates = nl.multiply(gates, nl.greater_equal(gates, top, dtype=nl.float32))
        total = nl.zeros((tokens, width), dtype=nl.float32, buffer=nl.sbuf)
        for e in nl.static_range(experts):
            hidden_t = nl.gelu(nisa.nc_matmul(nl.load(up[e]), x_t))
            result = nisa.nc_matmul(hidden_t, nl.load(down[e]))
            total += nl.multiply(result, gates[:, e:e + 1])
        nl.store(out[b], value=total)
    return out
