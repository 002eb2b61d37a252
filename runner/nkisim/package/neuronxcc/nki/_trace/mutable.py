"""Parameters annotated nt.mutable_tensor (SDK 2.26): an HBM tensor that starts as the argument's copy and is
returned."""

import inspect

from . import context
from .emit import emit_map
from .nodes import Access, Buffer, operations
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
    _copy_once(trace, Tensor.whole(buffer), tensor)
    trace.mutable.append(buffer)
    return Tensor.whole(buffer)


def _copy_once(trace, target, source):
    """The first program of a grid copies."""
    if not trace.grid:
        emit_map(target, [source], [], "dma_copy", "dma")
        return
    first = trace.first_program(range(len(trace.grid)))
    node = trace.open_if(first)
    region = trace.open_region("branch", node.then, node, first)
    emit_map(target, [source], [], "dma_copy", "dma")
    trace.close_region(region)


def start_from_argument(trace, output):
    """A legacy output that the kernel also reads begins as its argument's values.

    @returns the parameter, or None if it is only written."""
    if not any(_reads(op, output) for op in operations(trace.body)):
        return None
    source = Buffer(Buffer.PARAM, output.dtype, output.name, output.shape, 0, "hbm", 0, trace.top)
    source.filled = True
    trace.keep_buffer(source)
    _copy_once(trace, Tensor.whole(output), Tensor.whole(source))
    trace.body.insert(0, trace.body.pop())
    return source


def _reads(op, output):
    if op.accumulates and op.dst.buffer.root is output:
        return True
    return any(isinstance(s, Access) and s.buffer.root is output for s in op.sources)


def check_returned(trace, outputs):
    """@raises mutable_parameter_not_returned"""
    roots = {b.root for b in outputs}
    for buffer in trace.mutable:
        if buffer not in roots:
            context.fail(
                "OUTPUT_CONTRACT",
                f"parameter '{buffer.name}' is an nt.mutable_tensor and is not returned",
                line=0,
                operands=[(buffer.name, Tensor.whole(buffer))],
                rule="a mutable parameter is returned by the kernel",
                fix=f"return {buffer.name}",
                official="mutable_parameter_not_returned",
            )
