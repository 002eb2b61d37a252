"""The image itself is the stationary operand, so pixels land on partitions and classes on the free axis."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, weight, bias):
    batch, channels, height, width = x.shape
    classes, pixels, tile = weight.shape[0], height * width, 120
    out = nl.ndarray((batch, classes, height, width), dtype=x.dtype, buffer=nl.shared_hbm)
    source, target = x.reshape((batch, channels, pixels)), out.reshape((batch, classes, pixels))
    turned = nl.load_transpose2d(weight.reshape((classes, channels)))
    offset = nl.load(bias.reshape((1, classes))).broadcast_to((tile, classes))
    for b in nl.affine_range(batch):
        for t in nl.affine_range(pixels // tile):
            image = nl.load(source[b, 0:channels, nl.ds(t * tile, tile)])
            scores = nl.add(nisa.nc_matmul(image, turned), offset)
            weights = nl.exp(nl.subtract(scores, nl.max(scores, axis=1, keepdims=True)))
            soft = nl.divide(weights, nl.sum(weights, axis=1, keepdims=True))
            nl.store(target[b, 0:classes, nl.ds(t * tile, tile)], value=nl.copy(nisa.nc_transpose(soft)))
    return out
