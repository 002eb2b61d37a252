# nkigrid: category=convolution
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, channels, height, width = 2, 116, 18, 18


class Model(nn.Module):
    """Depthwise 3 x 3 convolution that keeps the size of the image, then ReLU6."""

    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, groups=channels)
        nn.init.normal_(self.conv.weight, std=1.2)

    def forward(self, x):
        return F.relu6(self.conv(x))


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels]
