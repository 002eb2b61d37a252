# nkigrid: category=matmul
import torch
import torch.nn as nn

terms, rows, cols = 12, 210, 480


class Model(nn.Module):
    """A sum of few outer products: a matrix product of small depth."""

    def forward(self, u, v):
        return torch.matmul(u.t(), v)


def get_inputs():
    return [torch.randn(terms, rows), torch.randn(terms, cols) * 0.5]


def get_init_inputs():
    return []
