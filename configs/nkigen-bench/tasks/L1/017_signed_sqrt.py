# nkigrid: category=elementwise
import torch
import torch.nn as nn

batch, rows, cols = 4, 96, 250


class Model(nn.Module):
    """The square root of the size, with the sign of the value."""

    def forward(self, x):
        return torch.sign(x) * torch.sqrt(torch.abs(x))


def get_inputs():
    return [torch.randn(batch, rows, cols) * 3.0]


def get_init_inputs():
    return []
