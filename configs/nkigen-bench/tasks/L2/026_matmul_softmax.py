# nkigrid: category=matmul-epilogue
import torch
import torch.nn as nn

m, k, n = 200, 120, 90


class Model(nn.Module):
    """A product, then softmax over its rows."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, a, b):
        return torch.softmax(self.scale * torch.matmul(a, b), dim=-1)


def get_inputs():
    return [torch.randn(m, k), torch.randn(k, n)]


def get_init_inputs():
    return [0.3]
