# nkigrid: category=convolution
import torch
import torch.nn as nn

channels, depth, height, width, features = 16, 6, 11, 12, 24


class Model(nn.Module):
    """3 x 3 x 3 convolution of a volume."""

    def __init__(self, channels, features):
        super().__init__()
        self.conv = nn.Conv3d(channels, features, 3)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(1, channels, depth, height, width)]


def get_init_inputs():
    return [channels, features]
