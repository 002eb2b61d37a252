"""One scan a state: its factors are exp(step * rate), what is fed is step * u * b; the gate closes the block."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(u, step, b, c, gate, taps, decay):
    batch, width, length = u.shape
    states = decay.shape[1]
    out = nl.ndarray(u.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    rate = nl.negative(nl.exp(nl.load(decay)))
    factor = nl.load(taps.reshape((width, 4)))
    for e in nl.affine_range(batch):
        signal = nl.zeros((width, length + 3), dtype=nl.float32, buffer=nl.sbuf)
        signal[:, 3:length + 3] = nl.load(u[e])
        mixed = nl.zeros((width, length), dtype=nl.float32, buffer=nl.sbuf)
        for k in nl.static_range(4):
            mixed += nl.multiply(signal[:, k:k + length], factor[:, k:k + 1])
        now = nl.softplus(nl.load(step[e]))
        driven = nl.multiply(now, nl.silu(mixed))
        total = nl.zeros((width, length), dtype=nl.float32, buffer=nl.sbuf)
        for s in nl.static_range(states):
            kept = nisa.activation(op=nl.exp, data=now, scale=rate[:, s:s + 1])
            fed = nl.multiply(driven, nl.load(b[e, s:s + 1, 0:length]).broadcast_to((width, length)))
            state = nisa.tensor_tensor_scan(kept, fed, initial=0.0, op0=np.multiply, op1=np.add)
            total += nl.multiply(state, nl.load(c[e, s:s + 1, 0:length]).broadcast_to((width, length)))
        nl.store(out[e], value=nl.multiply(total, nl.silu(nl.load(gate[e]))))
    return out
