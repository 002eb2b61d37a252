# nkigrid: category=reduction
import torch
import torch.nn as nn

rows, cols = 333, 900


class Model(nn.Module):
    """The sum of each row, over the root of its length."""

    def forward(self, x):
        return torch.sum(x, dim=1, keepdim=True) / cols ** 0.5


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
