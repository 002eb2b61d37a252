"""2 x 2 max pooling: channels on partitions, the four corners of each window as strided views."""
from neuronxcc import nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    batch, channels, height, width = x.shape
    out = nl.ndarray((batch, channels, height // 2, width // 2), dtype=x.dtype, buffer=nl.shared_hbm)
    i_c = nl.arange(128)[:, None, None]
    i_y = nl.arange(height)[None, :, None]
    i_x = nl.arange(width)[None, None, :]
    o_y = nl.arange(height // 2)[None, :, None]
    o_x = nl.arange(width // 2)[None, None, :]

    for b in nl.affine_range(batch):
        for t in nl.affine_range((channels + 127) // 128):
            channel = t * 128 + i_c
            image = nl.load(x[b, channel, i_y, i_x], mask=(channel < channels))
            upper = nl.maximum(image[i_c, 2 * o_y, 2 * o_x], image[i_c, 2 * o_y, 2 * o_x + 1])
            lower = nl.maximum(image[i_c, 2 * o_y + 1, 2 * o_x], image[i_c, 2 * o_y + 1, 2 * o_x + 1])
            pooled = nl.maximum(upper, lower)
            nl.store(out[b, channel, o_y, o_x], value=pooled, mask=(channel < channels))
    return out
