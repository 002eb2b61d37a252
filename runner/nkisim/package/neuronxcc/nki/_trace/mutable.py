"""Parameters annotated nt.mutable_tensor (SDK 2.26): an HBM tensor that starts as the argument's copy and must be returned."""

import inspect

from . import context
from .affine import Aff
from .emit import emit_map
from .nodes import Buffer
from .tensor import Tensor


def names_of(func):
    """Names of the parameters whose annotation says mutable."""
    annotations = getattr(func, "__annotations__", {})
    return {name for name, value in annotations.items() if getattr(value, "nki_mutable", False)}


def parameter_name(func, key):
    """The name of argument `key` (a position or a name)."""
    if isinstance(key, str):
        return key
    try:
        return list(inspect.signature(func).parameters)[key]
    except (IndexError, ValueError, TypeError):
        return ""


def copy_in(trace, tensor):
    """A writable tensor that holds the argument's values; the first program of a grid copies them."""
    source = tensor.buffer_
    buffer = trace.add_buffer(Buffer.HBM, source.dtype, source.name, source.shape, 0, "hbm")
    target, first = Tensor.whole(buffer), Aff(0)
    for axis in range(len(trace.grid)):
        first = first + trace.program_id(axis)
    if not trace.grid:
        emit_map(target, [tensor], [], "dma_copy", "dma")
    else:
        node = trace.open_if(((1, first),))
        region = trace.open_region("branch", node.then, node, ((1, first),))
        emit_map(target, [tensor], [], "dma_copy", "dma")
        trace.close_region(region)
    trace.mutable.append(buffer)
    return target


def check_returned(trace, outputs):
    """@raises mutable_parameter_not_returned"""
    roots = {b.root for b in outputs}
    for buffer in trace.mutable:
        if buffer not in roots:
            context.fail("OUTPUT_CONTRACT", f"parameter '{buffer.name}' is an nt.mutable_tensor and is not returned", line=0,
                         operands=[(buffer.name, Tensor.whole(buffer))], rule="a mutable parameter is returned by the kernel",
                         fix=f"return {buffer.name}", official="mutable_parameter_not_returned")

