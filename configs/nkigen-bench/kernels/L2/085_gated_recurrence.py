"""Gates and candidates of all steps at once, then one scan a tile."""
import numpy as np

from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(gate, candidate):
    batch, channels, length = gate.shape
    out = nl.ndarray(gate.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    for b in nl.affine_range(batch):
        keep = nl.sigmoid(nl.load(gate[b]))
        fed = nl.multiply(nl.tanh(nl.load(candidate[b])), nl.subtract(1.0, keep))
        state = nisa.tensor_tensor_scan(keep, fed, initial=0.0, op0=np.multiply, op1=np.add)
        nl.store(out[b], value=state)
    return out
