# nkigrid: category=matmul
import torch
import torch.nn as nn

k, m, n = 300, 160, 400


class Model(nn.Module):
    """Product whose first operand is stored with its contraction first."""

    def forward(self, a, b):
        return torch.matmul(a.t(), b)


def get_inputs():
    return [torch.randn(k, m), torch.randn(k, n) * 0.1]


def get_init_inputs():
    return []
