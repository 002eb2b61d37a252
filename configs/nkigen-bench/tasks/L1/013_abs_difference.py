# nkigrid: category=elementwise
import torch
import torch.nn as nn

batch, rows, cols = 3, 150, 260


class Model(nn.Module):
    """Absolute difference of two tensors."""

    def forward(self, x, y):
        return torch.abs(x - y)


def get_inputs():
    return [torch.randn(batch, rows, cols), torch.randn(batch, rows, cols)]


def get_init_inputs():
    return []
