# nkigrid: category=convolution
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, channels, grown, height, width = 2, 32, 128, 13, 14


class Model(nn.Module):
    """An inverted residual: 1 x 1 convolution up, depthwise 3 x 3, 1 x 1 down, and the skip."""

    def __init__(self, channels, grown):
        super().__init__()
        self.up = nn.Conv2d(channels, grown, 1)
        self.depth = nn.Conv2d(grown, grown, 3, padding=1, groups=grown)
        self.down = nn.Conv2d(grown, channels, 1)
        nn.init.normal_(self.up.weight, std=1.4 * channels ** -0.5)
        nn.init.normal_(self.depth.weight, std=0.5)
        nn.init.normal_(self.down.weight, std=1.4 * grown ** -0.5)

    def forward(self, x):
        return x + self.down(F.relu6(self.depth(F.relu6(self.up(x)))))


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, grown]
