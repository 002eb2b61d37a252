# nkigrid: category=elementwise
import torch
import torch.nn as nn

batch, rows, pairs = 2, 120, 130


class Model(nn.Module):
    """Products of complex numbers that are kept as pairs along the last axis."""

    def forward(self, x, y):
        real = x[..., 0] * y[..., 0] - x[..., 1] * y[..., 1]
        imaginary = x[..., 0] * y[..., 1] + x[..., 1] * y[..., 0]
        return torch.stack((real, imaginary), dim=-1)


def get_inputs():
    return [torch.randn(batch, rows, pairs, 2), torch.randn(batch, rows, pairs, 2)]


def get_init_inputs():
    return []
