# nkigrid: category=matmul
import torch
import torch.nn as nn

terms, m, k, n = 7, 90, 60, 260


class Model(nn.Module):
    """The sum over a batch of products."""

    def forward(self, a, b):
        return torch.sum(torch.matmul(a, b), dim=0)


def get_inputs():
    return [torch.randn(terms, m, k), torch.randn(terms, k, n) * 0.05]


def get_init_inputs():
    return []
