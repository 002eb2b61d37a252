# nkigrid: category=normalisation
import torch
import torch.nn as nn

batch, tokens, width = 2, 150, 384


class Model(nn.Module):
    """Root-mean-square normalisation of bfloat16 rows with a float32 weight."""

    def __init__(self, width, eps):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(1.0 + 0.3 * torch.randn(width))

    def forward(self, x):
        x = x.float()
        return x * torch.rsqrt(torch.mean(x * x, dim=-1, keepdim=True) + self.eps) * self.weight


def get_inputs():
    return [(torch.randn(batch, tokens, width) * 1.5).bfloat16()]


def get_init_inputs():
    return [width, 1e-5]
