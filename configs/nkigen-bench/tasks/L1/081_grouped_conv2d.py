# nkigrid: category=convolution
import torch
import torch.nn as nn

batch, channels, height, width, features, groups = 2, 64, 14, 16, 48, 4


class Model(nn.Module):
    """3 x 3 convolution in four groups of channels that do not mix."""

    def __init__(self, channels, features, groups):
        super().__init__()
        self.conv = nn.Conv2d(channels, features, 3, groups=groups)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, features, groups]
