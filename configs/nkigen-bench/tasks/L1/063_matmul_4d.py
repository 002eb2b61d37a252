# nkigrid: category=matmul
import torch
import torch.nn as nn

batch, heads, m, k, n = 2, 4, 72, 64, 100


class Model(nn.Module):
    """A product for each batch entry and head."""

    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    return [torch.randn(batch, heads, m, k), torch.randn(batch, heads, k, n) * 0.3]


def get_init_inputs():
    return []
