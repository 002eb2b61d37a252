# nkigrid: category=residual
import torch
import torch.nn as nn

batch, channels, height, width = 2, 144, 12, 14


class Model(nn.Module):
    """An image plus a 1 x 1 convolution of itself."""

    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 1)
        nn.init.normal_(self.conv.weight, std=channels ** -0.5)

    def forward(self, x):
        return x + self.conv(x)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels]
