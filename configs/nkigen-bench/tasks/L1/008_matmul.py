# nkigrid: category=matmul
import torch
import torch.nn as nn

m, k, n = 256, 384, 600


class Model(nn.Module):
    """One matrix product; its last tile of columns is ragged."""

    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    return [torch.randn(m, k), torch.randn(k, n) * 0.1]


def get_init_inputs():
    return []
