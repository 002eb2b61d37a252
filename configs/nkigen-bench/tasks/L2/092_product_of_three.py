# nkigrid: category=matmul
import torch
import torch.nn as nn

m, k, l, n = 100, 220, 80, 130


class Model(nn.Module):
    """A product of three matrices whose cheap order is not the written one."""

    def forward(self, a, b, c):
        return torch.matmul(a, torch.matmul(b, c))


def get_inputs():
    return [torch.randn(m, k) * k ** -0.5, torch.randn(k, l), torch.randn(l, n) * 0.2]


def get_init_inputs():
    return []
