# nkigrid: category=convolution
import torch
import torch.nn as nn

batch, channels, height, width, features = 2, 150, 16, 20, 100


class Model(nn.Module):
    """1 x 1 convolution: a product over the channels of each pixel."""

    def __init__(self, channels, features):
        super().__init__()
        self.conv = nn.Conv2d(channels, features, 1)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, features]
