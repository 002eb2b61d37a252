"""Rows are turned first: then the token before is a shift along the free axis, and a mix is one number a partition."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, mix_key, mix_gate, key, value, gate):
    batch, tokens, width = x.shape
    hidden, half = key.shape[0], key.shape[0] // 2
    out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    share_key, share_gate = nl.load(mix_key[nl.ds(0, width)]), nl.load(mix_gate[nl.ds(0, width)])
    gate_t = nl.load_transpose2d(gate)
    for b in nl.affine_range(batch):
        line = nl.zeros((width, tokens + 1), dtype=nl.float32, buffer=nl.sbuf)
        line[:, 1:tokens + 1] = nl.load_transpose2d(x[b, 0:tokens, 0:width], dtype=nl.float32)
        before = line[:, 0:tokens]
        change = nl.subtract(line[:, 1:tokens + 1], before)
        mixed = nl.add(nl.multiply(change, share_key), before)
        fed = nl.zeros((tokens, width), dtype=nl.float32, buffer=nl.psum)
        for s in nl.affine_range(2):
            piece = nl.ds(s * half, half)
            grown = nl.square(nl.relu(nisa.nc_matmul(nl.load_transpose2d(key[piece, 0:width]), mixed)))
            fed += nisa.nc_matmul(grown, nl.load_transpose2d(value[0:width, piece]))
        opened = nl.sigmoid(nisa.nc_matmul(nl.add(nl.multiply(change, share_gate), before), gate_t))
        nl.store(out[b], value=nl.multiply(fed, opened))
    return out
