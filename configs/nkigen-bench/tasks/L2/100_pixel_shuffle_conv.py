# nkigrid: category=resampling
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, channels, height, width = 2, 75, 10, 13


class Model(nn.Module):
    """1 x 1 convolution to four times as many features, which become the four pixels of a finer image."""

    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, 4 * 20, 1)
        nn.init.normal_(self.conv.weight, std=1.2 * channels ** -0.5)

    def forward(self, x):
        return F.pixel_shuffle(self.conv(x), 2)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels]
