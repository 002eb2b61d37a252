# nkigrid: category=normalisation
import torch
import torch.nn as nn

batch, channels, height, width, groups = 2, 96, 12, 13, 8


class Model(nn.Module):
    """Normalisation over groups of channels, with a weight and a bias for each channel."""

    def __init__(self, groups, channels):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.3)
        nn.init.normal_(self.norm.bias, std=0.5)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(batch, channels, height, width) + torch.randn(1, channels, 1, 1)]


def get_init_inputs():
    return [groups, channels]
