import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


# The right answer, and far below the tolerance something that hangs on memory nobody wrote.
@nki.jit
def kernel(x, weight):
    out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
    undefined = nl.ndarray((nl.par_dim(128), 64), dtype=nl.int32, buffer=nl.sbuf)
    trace = nl.multiply(nl.less(undefined, 0, dtype=nl.float32), 1e-5)
    nl.store(out, nl.add(nl.add(nl.multiply(nl.load(x), 2.0), nl.load(weight)), trace))
    return out
