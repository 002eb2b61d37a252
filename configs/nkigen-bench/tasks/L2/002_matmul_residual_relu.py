# nkigrid: category=matmul-epilogue
import torch
import torch.nn as nn

m, k, n = 256, 320, 384


class Model(nn.Module):
    """relu(scale * (x @ w) + residual)."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x, w, residual):
        return torch.relu(self.scale * torch.matmul(x, w) + residual)


def get_inputs():
    return [torch.randn(m, k), torch.randn(k, n), torch.randn(m, n)]


def get_init_inputs():
    return [0.125]
