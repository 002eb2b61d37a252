# nkigrid: category=pooling
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, channels, height, width = 2, 140, 17, 19


class Model(nn.Module):
    """Overlapping 3 x 3 maximum pooling at every other place, ReLU, and one factor a channel."""

    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(0.5 + torch.rand(channels, 1, 1))

    def forward(self, x):
        return torch.relu(F.max_pool2d(x - 0.5, 3, stride=2)) * self.scale


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels]
