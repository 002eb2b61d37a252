"""x @ weight^T + bias: features on partitions, so the bias is one number a partition; the result is stored
transposed."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight, bias):
    batch, tokens, width = x.shape
    features = weight.shape[0]
    tile_f, step = 120, 80
    out = nl.ndarray((batch, tokens, features), dtype=x.dtype, buffer=nl.shared_hbm)
    for b in nl.affine_range(batch):
        for f in nl.affine_range(features // tile_f):
            acc = nl.zeros((tile_f, tokens), dtype=nl.float32, buffer=nl.psum)
            for s in nl.affine_range(width // step):
                w_t = nl.load_transpose2d(weight[nl.ds(f * tile_f, tile_f), nl.ds(s * step, step)])
                for half in nl.affine_range(2):
                    x_t = nl.load_transpose2d(x[b, nl.ds(half * 70, 70), nl.ds(s * step, step)])
                    acc[0:tile_f, nl.ds(half * 70, 70)] += nisa.nc_matmul(w_t, x_t)
            shifted = nl.add(acc, nl.load(bias[nl.ds(f * tile_f, tile_f)]))
            for half in nl.affine_range(2):
                turned = nisa.nc_transpose(shifted[0:tile_f, nl.ds(half * 70, 70)])
                nl.store(out[b, nl.ds(half * 70, 70), nl.ds(f * tile_f, tile_f)], value=nl.copy(turned))
    return out
