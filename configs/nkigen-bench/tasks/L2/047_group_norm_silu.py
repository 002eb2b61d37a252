# nkigrid: category=normalisation
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, channels, height, width, groups = 2, 80, 11, 14, 10


class Model(nn.Module):
    """Group normalisation with weight and bias, then SiLU."""

    def __init__(self, groups, channels):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels, eps=1e-6)
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.3)
        nn.init.normal_(self.norm.bias, std=0.4)

    def forward(self, x):
        return F.silu(self.norm(x))


def get_inputs():
    return [torch.randn(batch, channels, height, width) * 1.5 + torch.randn(1, channels, 1, 1)]


def get_init_inputs():
    return [groups, channels]
