# nkigrid: category=convolution
import torch
import torch.nn as nn

batch, channels, length, features, taps = 2, 64, 300, 96, 5


class Model(nn.Module):
    """One-dimensional convolution with a bias."""

    def __init__(self, channels, features, taps):
        super().__init__()
        self.conv = nn.Conv1d(channels, features, taps)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(batch, channels, length)]


def get_init_inputs():
    return [channels, features, taps]
