# nkigrid: category=activation
import torch
import torch.nn as nn

rows, cols = 128, 1000


class Model(nn.Module):
    """Scaled exponential linear unit with its two fixed constants."""

    def forward(self, x):
        return torch.selu(x)


def get_inputs():
    return [torch.randn(rows, cols) * 2.0]


def get_init_inputs():
    return []
