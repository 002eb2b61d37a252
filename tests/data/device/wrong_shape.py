import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight):
    out = nl.ndarray((128, 32), dtype=nl.float32, buffer=nl.shared_hbm)
    nl.store(out, nl.add(nl.multiply(nl.load(x[:, 0:32]), 2.0), nl.load(weight[:, 0:32])))
    return out
