# nkigrid: category=convolution
import torch
import torch.nn as nn

batch, channels, height, width = 2, 100, 19, 23


class Model(nn.Module):
    """Each channel convolved with its own 3 x 3 taps."""

    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, groups=channels)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels]
