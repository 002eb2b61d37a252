"""Runs without bytes (torch's fake tensors) where torch alone cannot: what Debian 12's torch lacks for them."""

import task_form
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

META_LIBRARY = torch.library.Library("aten", "IMPL", "Meta")
MAX_POOL_3D = "max_pool3d_with_indices"


def _triple(value, default):
    value = list(value) or list(default)
    return value * 3 if len(value) == 1 else value


def _max_pool_3d(x, kernel, stride=(), padding=(0,), dilation=(1,), ceil_mode=False):
    """The shapes of its results, each axis as torch's pooling of two axes gives it."""
    kernel = _triple(kernel, kernel)
    parts = kernel, _triple(stride, kernel), _triple(padding, padding), _triple(dilation, dilation)
    axes = []
    for axis in range(3):
        line = torch.empty(1, x.shape[axis - 3], 1, device="meta")
        along = [[part[axis], other] for part, other in zip(parts, (1, 1, 0, 1))]
        axes.append(torch.ops.aten.max_pool2d_with_indices(line, *along, ceil_mode)[0].shape[1])
    shape = [*x.shape[:-3], *axes]
    return x.new_empty(shape), x.new_empty(shape, dtype=torch.int64)


if not torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{MAX_POOL_3D}", "Meta"):
    META_LIBRARY.impl(MAX_POOL_3D, _max_pool_3d)


def made_without_bytes(names, mode):
    """The task's model, all of it fake. @param names what the task file defines @param mode the one that is on"""
    return task_form.make_model(names)


def made_with_bytes(names, mode):
    """The same where Model's __init__ looks at numbers (`torch.linspace(...)[1].item()`): it gets them, and only then
    its weights and buffers become fake."""
    names["get_inputs"]()  # what cannot be drawn without bytes ends here, before a model is made with them
    guard = torch._C._DisableTorchDispatch()
    try:
        model = task_form.make_model(names)
        weights = list(model.parameters())
        bare = [weight.detach() for weight in weights]
    finally:
        del guard
    of = {id(w): torch.nn.Parameter(mode.from_tensor(b), w.requires_grad) for w, b in zip(weights, bare)}
    of |= {id(buffer): mode.from_tensor(buffer) for buffer in model.buffers()}
    for module in model.modules():  # weights that are shared stay shared
        for tensors in (module._parameters, module._buffers):
            tensors.update({name: of[id(tensor)] for name, tensor in tensors.items() if tensor is not None})
    return model


def fake_mode():
    return FakeTensorMode(allow_fallback_kernels=False)


# (how a model is made, whether gradients are on), the cheapest first. Without gradients torch's transformer layers and
# attention take a path of their own, which has no fake form and whose products nothing counts.
WAYS = ((made_without_bytes, False), (made_without_bytes, True), (made_with_bytes, True))
