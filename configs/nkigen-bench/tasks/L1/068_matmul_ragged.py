# nkigrid: category=matmul
import torch
import torch.nn as nn

m, k, n = 190, 333, 557


class Model(nn.Module):
    """Product none of whose sizes is a multiple of a tile."""

    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    return [torch.randn(m, k), torch.randn(k, n) * 0.1]


def get_init_inputs():
    return []
