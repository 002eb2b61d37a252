# nkigrid: category=matmul
import torch
import torch.nn as nn

rows, cols = 260, 500


class Model(nn.Module):
    """A diagonal matrix, given by its diagonal, times a matrix."""

    def forward(self, d, b):
        return torch.matmul(torch.diag(d), b)


def get_inputs():
    return [torch.randn(rows) + 1.0, torch.randn(rows, cols)]


def get_init_inputs():
    return []
