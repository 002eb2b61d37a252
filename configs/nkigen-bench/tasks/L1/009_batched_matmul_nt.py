# nkigrid: category=matmul
import torch
import torch.nn as nn

batch, m, k, n = 6, 150, 200, 96


class Model(nn.Module):
    """Batched product with the second operand transposed."""

    def forward(self, a, b):
        return torch.bmm(a, b.transpose(1, 2))


def get_inputs():
    return [torch.randn(batch, m, k), torch.randn(batch, n, k) * 0.2]


def get_init_inputs():
    return []
