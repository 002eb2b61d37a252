# nkigrid: category=matmul
import torch
import torch.nn as nn

rows, width = 250, 180


class Model(nn.Module):
    """All inner products of the rows of one matrix."""

    def forward(self, x):
        return torch.matmul(x, x.t()) * width ** -0.5


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return []
