# nkigrid: category=elementwise
import torch
import torch.nn as nn

batch, channels, height, width = 2, 96, 25, 25


class Model(nn.Module):
    """Values held between two bounds."""

    def __init__(self, low, high):
        super().__init__()
        self.low, self.high = low, high

    def forward(self, x):
        return torch.clamp(x, self.low, self.high)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [-0.75, 1.25]
