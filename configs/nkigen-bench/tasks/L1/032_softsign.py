# nkigrid: category=activation
import torch
import torch.nn as nn

rows, cols = 420, 256


class Model(nn.Module):
    """x over one more than its size."""

    def forward(self, x):
        return x / (1.0 + torch.abs(x))


def get_inputs():
    return [torch.randn(rows, cols) * 2.0]


def get_init_inputs():
    return []
