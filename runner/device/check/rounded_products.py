"""References whose products are made of operands rounded to bfloat16: what a kernel gives that casts to the tensor
engine's fast type. Used by check_index.py."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

# Which arguments are the operands.
PRODUCTS = {
    "mm": (0, 1),
    "bmm": (0, 1),
    "mv": (0, 1),
    "dot": (0, 1),
    "addmm": (1, 2),
    "addmv": (1, 2),
    "baddbmm": (1, 2),
    "convolution": (0, 1),
}


class _Rounded(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.products = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        operands = PRODUCTS.get(function._schema.name.split("::")[1], ())
        if operands and args[operands[0]].dtype == torch.float32:
            self.products += 1
            args = [a.bfloat16().float() if place in operands else a for place, a in enumerate(args)]
        return function(*args, **(kwargs or {}))


def with_rounded_products(forward):
    """@param forward runs the model and gives its outputs @returns its outputs, or None where it makes no product"""
    with _Rounded() as mode:
        outputs = forward()
    return outputs if mode.products else None
