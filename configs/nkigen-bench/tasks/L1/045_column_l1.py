# nkigrid: category=reduction
import torch
import torch.nn as nn

rows, cols = 290, 640


class Model(nn.Module):
    """The mean absolute value of each column."""

    def forward(self, x):
        return torch.mean(torch.abs(x), dim=0, keepdim=True)


def get_inputs():
    return [torch.randn(rows, cols) * (0.5 + torch.rand(cols))]


def get_init_inputs():
    return []
