import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight):
    out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
    nl.store(out[0:64, :], nl.add(nl.multiply(nl.load(x[0:64, :]), 2.0), nl.load(weight[0:64, :])))
    return out
