# nkigrid: category=matmul
import torch
import torch.nn as nn

batch, m, k, n = 5, 90, 130, 210


class Model(nn.Module):
    """Batched product of two 3-D tensors."""

    def forward(self, a, b):
        return torch.bmm(a, b)


def get_inputs():
    return [torch.randn(batch, m, k), torch.randn(batch, k, n) * 0.2]


def get_init_inputs():
    return []
