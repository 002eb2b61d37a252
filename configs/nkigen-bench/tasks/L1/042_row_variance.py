# nkigrid: category=reduction
import torch
import torch.nn as nn

rows, cols = 270, 500


class Model(nn.Module):
    """The variance of each row, without the correction for the sample."""

    def forward(self, x):
        return torch.var(x, dim=1, unbiased=False, keepdim=True)


def get_inputs():
    return [torch.randn(rows, cols) * (0.5 + torch.rand(rows, 1))]


def get_init_inputs():
    return []
