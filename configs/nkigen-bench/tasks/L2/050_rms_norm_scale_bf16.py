# nkigrid: category=normalisation
import torch
import torch.nn as nn

batch, tokens, width = 2, 125, 240


class Model(nn.Module):
    """Root-mean-square normalisation of bfloat16 rows with a bfloat16 weight."""

    def __init__(self, width, eps):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter((1.0 + 0.3 * torch.randn(width)).bfloat16())

    def forward(self, x):
        wide = x.float()
        return wide * torch.rsqrt(torch.mean(wide * wide, dim=-1, keepdim=True) + self.eps) * self.weight.float()


def get_inputs():
    return [torch.randn(batch, tokens, width).bfloat16()]


def get_init_inputs():
    return [width, 1e-5]
