# nkigrid: category=matmul
import torch
import torch.nn as nn

size, cols = 200, 300


class Model(nn.Module):
    """The lower triangle of a matrix times another."""

    def forward(self, a, b):
        return torch.matmul(torch.tril(a), b) * 0.2


def get_inputs():
    return [torch.randn(size, size), torch.randn(size, cols)]


def get_init_inputs():
    return []
