# nkigrid: category=matmul-epilogue
import torch
import torch.nn as nn

m, k, n = 225, 150, 300


class Model(nn.Module):
    """alpha * (a @ b) + beta * c."""

    def __init__(self, alpha, beta):
        super().__init__()
        self.alpha, self.beta = alpha, beta

    def forward(self, a, b, c):
        return self.alpha * torch.matmul(a, b) + self.beta * c


def get_inputs():
    return [torch.randn(m, k), torch.randn(k, n), torch.randn(m, n)]


def get_init_inputs():
    return [0.1, -0.7]
