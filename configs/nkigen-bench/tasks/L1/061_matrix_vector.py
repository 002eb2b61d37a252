# nkigrid: category=matmul
import torch
import torch.nn as nn

m, k = 333, 512


class Model(nn.Module):
    """A matrix times a vector, as a column."""

    def forward(self, a, v):
        return torch.matmul(a, v)


def get_inputs():
    return [torch.randn(m, k), torch.randn(k, 1) * 0.1]


def get_init_inputs():
    return []
