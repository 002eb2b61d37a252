# nkigrid: category=activation
import torch
import torch.nn as nn

rows, cols = 256, 1500


class Model(nn.Module):
    """Hard swish: x * clamp(x + 3, 0, 6) / 6."""

    def forward(self, x):
        return x * torch.clamp(x + 3.0, 0.0, 6.0) / 6.0


def get_inputs():
    return [torch.randn(rows, cols) * 2.0]


def get_init_inputs():
    return []
