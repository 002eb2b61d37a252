# nkigrid: category=matmul-epilogue
# nkigrid: domain a=unit
# nkigrid: domain b=unit
# nkigrid: domain bias=unit
import torch
import torch.nn as nn

batch, heads, m, k, n = 2, 3, 60, 80, 110


class Model(nn.Module):
    """A product for each batch entry and head, a bias for each head, then tanh."""

    def forward(self, a, b, bias):
        return torch.tanh(torch.matmul(a, b) + bias)


def get_inputs():
    a = 2.0 * torch.rand(batch, heads, m, k) - 1.0
    b = 0.6 * torch.rand(batch, heads, k, n) - 0.3
    return [a, b, 2.0 * torch.rand(heads, 1, n) - 1.0]


def get_init_inputs():
    return []
