# nkigrid: category=convolution
import torch
import torch.nn as nn

batch, channels, height, width, features = 2, 40, 18, 20, 72


class Model(nn.Module):
    """3 x 3 convolution that keeps the size of the image."""

    def __init__(self, channels, features):
        super().__init__()
        self.conv = nn.Conv2d(channels, features, 3, padding=1)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, features]
