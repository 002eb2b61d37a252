# nkigrid: category=convolution
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, channels, height, width, features = 2, 24, 17, 15, 56


class Model(nn.Module):
    """3 x 3 convolution at every other place, less a constant, then mish."""

    def __init__(self, channels, features, shift):
        super().__init__()
        self.conv = nn.Conv2d(channels, features, 3, stride=2, padding=1)
        self.shift = shift
        nn.init.normal_(self.conv.weight, std=1.5 * (9 * channels) ** -0.5)

    def forward(self, x):
        return F.mish(self.conv(x) - self.shift)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, features, 0.25]
