"""Parameters of the model itself come first: up, down, then the router. A gate is one number a token, a partition."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, up, down, router):
    tokens, width = x.shape
    experts, _, hidden = up.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    x_t = nl.load_transpose2d(x)
    gates = nl.softmax(nl.copy(nisa.nc_matmul(x_t, nl.load_transpose2d(router))), axis=-1)
    total = nl.zeros((tokens, width), dtype=nl.float32, buffer=nl.sbuf)
    for e in nl.static_range(experts):
        hidden_t = nl.relu(nisa.nc_matmul(nl.load(up[e]), x_t))
        result = nisa.nc_matmul(hidden_t, nl.load(down[e]))
        total += nisa.tensor_scalar(result, op0=np.multiply, operand0=gates[:, e:e + 1])
    nl.store(out, value=total)
    return out
