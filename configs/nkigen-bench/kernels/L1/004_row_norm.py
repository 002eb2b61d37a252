"""sqrt(mean(x * x)) of each row; the squares are summed over column blocks of 512."""
from neuronxcc import nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    rows, cols = x.shape
    out = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    i_p = nl.arange(128)[:, None]
    i_f = nl.arange(512)[None, :]
    i_one = nl.arange(1)[None, :]

    for t in nl.affine_range((rows + 127) // 128):
        row = t * 128 + i_p
        acc = nl.zeros((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        for c in nl.affine_range(cols // 512):
            tile = nl.load(x[row, c * 512 + i_f], mask=(row < rows))
            acc += nl.sum(nl.square(tile), axis=1, keepdims=True)
        length = nl.sqrt(nl.multiply(acc, 1.0 / cols))
        nl.store(out[row, i_one], value=length, mask=(row < rows))
    return out
