"""x + down(gelu(up(layer_norm(x)))): the hidden layer is kept with its features on partitions."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

EPS = 1e-5


@nki.jit
def kernel(x, norm_weight, norm_bias, up_weight, up_bias, down_weight, down_bias):
    batch, tokens, width = x.shape
    hidden = up_weight.shape[0]
    chunk, tile = 96, 128
    chunks, tiles = width // chunk, hidden // tile
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i_t = nl.arange(tokens)[:, None]
    i_w = nl.arange(width)[None, :]
    i_c, j_c = nl.arange(chunk)[:, None], nl.arange(chunk)[None, :]
    i_h, j_h = nl.arange(tile)[:, None], nl.arange(tile)[None, :]
    gamma = nl.load(norm_weight.reshape((1, width))).broadcast_to((tokens, width))
    beta = nl.load(norm_bias.reshape((1, width))).broadcast_to((tokens, width))
    offset = nl.load(down_bias.reshape((1, width))).broadcast_to((tokens, width))

    up_t = nl.ndarray((chunks, nl.par_dim(chunk), hidden), dtype=nl.float32, buffer=nl.sbuf)
    down_t = nl.ndarray((tiles, nl.par_dim(tile), width), dtype=nl.float32, buffer=nl.sbuf)
    for c in nl.affine_range(chunks):
        for h in nl.affine_range(tiles):
            up_t[c, i_c, h * tile + j_h] = nl.load_transpose2d(up_weight[h * tile + i_h, c * chunk + j_c])
            down_t[h, i_h, c * chunk + j_c] = nl.load_transpose2d(down_weight[c * chunk + i_c, h * tile + j_h])

    for b in nl.affine_range(batch):
        tile_x = nl.load(x[b, i_t, i_w])
        centred = nl.subtract(tile_x, nl.mean(tile_x, axis=1, keepdims=True))
        variance = nl.mean(nl.square(centred), axis=1, keepdims=True)
        unit = nl.multiply(centred, nl.rsqrt(nl.add(variance, EPS)))
        normed = nl.add(nl.multiply(unit, gamma), beta)
        normed_t = nl.ndarray((chunks, nl.par_dim(chunk), tokens), dtype=nl.float32, buffer=nl.sbuf)
        for c in nl.affine_range(chunks):
            normed_t[c] = nisa.nc_transpose(normed[i_t, c * chunk + j_c])

        result = nl.zeros((tokens, width), dtype=nl.float32, buffer=nl.psum)
        for h in nl.affine_range(tiles):
            acc = nl.zeros((tile, tokens), dtype=nl.float32, buffer=nl.psum)
            for c in nl.affine_range(chunks):
                acc += nisa.nc_matmul(up_t[c, i_c, h * tile + j_h], normed_t[c])
            shift = nl.load(up_bias[nl.ds(h * tile, tile)])
            active = nisa.activation(op=nl.gelu, data=acc, bias=shift)
            result += nisa.nc_matmul(active, down_t[h, i_h, i_w])
        total = nl.add(nl.add(result, offset), tile_x)
        nl.store(out[b, i_t, i_w], value=total)
    return out
