# nkigrid: category=softmax
import torch
import torch.nn as nn

batch, channels, height, width, classes = 2, 64, 15, 16, 30


class Model(nn.Module):
    """1 x 1 convolution to class scores, then softmax over the classes of each pixel."""

    def __init__(self, channels, classes):
        super().__init__()
        self.conv = nn.Conv2d(channels, classes, 1)
        nn.init.normal_(self.conv.weight, std=3.0 * channels ** -0.5)

    def forward(self, x):
        return torch.softmax(self.conv(x), dim=1)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, classes]
