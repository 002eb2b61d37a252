"""One sequence at a time stays on chip from its load to its store; tokens are on partitions between the halves."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

HEADS, EPS = 4, 1e-5


def normed(tile, gamma, beta):
    centred = nl.subtract(tile, nl.mean(tile, axis=1, keepdims=True))
    scale = nl.rsqrt(nl.add(nl.mean(nl.square(centred), axis=1, keepdims=True), EPS))
    return nl.add(nl.multiply(nl.multiply(centred, scale), gamma), beta)


def spread(row, count, width):
    return nl.load(row.reshape((1, width))).broadcast_to((count, width))


@nki.jit
def kernel(x, mix, project, up, up_bias, down, down_bias, gain_1, offset_1, gain_2, offset_2):
    batch, tokens, width = x.shape
    hidden, depth = up.shape[0], width // HEADS
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    q_w, k_w, v_w = (nl.load_transpose2d(mix[i * width:(i + 1) * width, 0:width]) for i in range(3))
    up_t, down_t = nl.load_transpose2d(up), nl.load_transpose2d(down)
    gamma_1, beta_1 = spread(gain_1, tokens, width), spread(offset_1, tokens, width)
    gamma_2, beta_2 = spread(gain_2, tokens, width), spread(offset_2, tokens, width)
    shift = spread(down_bias, tokens, width)
    for b in nl.affine_range(batch):
        tile = nl.load(x[b])
        x_t = nl.copy(nisa.nc_transpose(tile))
        values = nl.copy(nisa.nc_matmul(x_t, v_w))
        attended = nl.zeros((tokens, width), dtype=nl.float32, buffer=nl.psum)
        for h in nl.affine_range(HEADS):
            head = nl.ds(h * depth, depth)
            q_t = nl.copy(nisa.nc_matmul(q_w[:, head], x_t))
            k_t = nl.copy(nisa.nc_matmul(k_w[:, head], x_t))
            weights = nl.softmax(nl.multiply(nisa.nc_matmul(q_t, k_t), depth ** -0.5), axis=-1)
            mixed_t = nl.copy(nisa.nc_matmul(values[:, head], nl.copy(nisa.nc_transpose(weights))))
            attended += nisa.nc_matmul(mixed_t, nl.load_transpose2d(project[0:width, head]))
        middle = normed(nl.add(tile, attended), gamma_1, beta_1)
        grown = nisa.nc_matmul(up_t, nl.copy(nisa.nc_transpose(middle)))
        active = nisa.activation(op=nl.relu, data=grown, bias=nl.load(up_bias[nl.ds(0, hidden)]))
        fed = nl.add(nisa.nc_matmul(active, down_t), shift)
        nl.store(out[b], value=normed(nl.add(middle, fed), gamma_2, beta_2))
    return out
