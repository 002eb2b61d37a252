"""relu(x @ weight^T + bias) on bfloat16 operands: features on partitions, then turned back in float32."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight, bias):
    rows, width = x.shape
    features = weight.shape[0]
    tile_m, tile_f = 96, 80
    out = nl.ndarray((rows, features), dtype=nl.float32, buffer=nl.shared_hbm)
    i_m, i_f, i_k = nl.arange(tile_m)[:, None], nl.arange(tile_f)[:, None], nl.arange(128)[None, :]
    spread = nl.load(bias.reshape((1, features))).broadcast_to((tile_m, features))
    for mt in nl.affine_range(rows // tile_m):
        for ft in nl.affine_range(features // tile_f):
            acc = nl.zeros((tile_m, tile_f), dtype=nl.float32, buffer=nl.psum)
            for kt in nl.affine_range(width // 128):
                left = nl.load_transpose2d(x[mt * tile_m + i_m, kt * 128 + i_k])
                acc += nisa.nc_matmul(left, nl.load_transpose2d(weight[ft * tile_f + i_f, kt * 128 + i_k]))
            shifted = nl.add(acc, spread[:, nl.ds(ft * tile_f, tile_f)])
            nl.store(out[nl.ds(mt * tile_m, tile_m), nl.ds(ft * tile_f, tile_f)], value=nl.relu(shifted))
    return out
