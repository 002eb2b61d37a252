# nkigrid: category=residual
import torch
import torch.nn as nn

batch, channels, height, width = 2, 90, 12, 12


class Model(nn.Module):
    """Two branches, each with a factor of its own in each channel, added to the input and rectified."""

    def __init__(self, channels):
        super().__init__()
        self.first = nn.Parameter(0.5 * torch.randn(channels, 1, 1))
        self.second = nn.Parameter(0.5 * torch.randn(channels, 1, 1))

    def forward(self, x, a, b):
        return torch.relu(x + self.first * a + self.second * b)


def get_inputs():
    return [
        torch.randn(batch, channels, height, width),
        torch.randn(batch, channels, height, width),
        torch.randn(batch, channels, height, width),
    ]


def get_init_inputs():
    return [channels]
