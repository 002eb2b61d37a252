# nkigrid: category=matmul
import torch
import torch.nn as nn

batch, rows, k, n = 3, 100, 192, 150


class Model(nn.Module):
    """Every matrix of a bfloat16 batch times the same matrix."""

    def forward(self, a, b):
        return torch.matmul(a.float(), b.float())


def get_inputs():
    return [torch.randn(batch, rows, k).bfloat16(), (torch.randn(k, n) * 0.2).bfloat16()]


def get_init_inputs():
    return []
