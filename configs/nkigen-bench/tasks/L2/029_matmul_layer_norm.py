# nkigrid: category=matmul-epilogue
import torch
import torch.nn as nn
import torch.nn.functional as F

m, k, n = 180, 128, 256


class Model(nn.Module):
    """A product whose rows are brought to mean zero and variance one."""

    def __init__(self, eps):
        super().__init__()
        self.eps = eps

    def forward(self, a, b):
        return F.layer_norm(torch.matmul(a, b), (b.shape[1],), eps=self.eps)


def get_inputs():
    return [torch.randn(m, k), torch.randn(k, n)]


def get_init_inputs():
    return [1e-5]
