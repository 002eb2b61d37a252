# nkigrid: category=convolution
import torch
import torch.nn as nn

batch, channels, height, width, features = 2, 96, 16, 16, 120


class Model(nn.Module):
    """Depthwise 3 x 3 convolution, then a 1 x 1 convolution with ReLU."""

    def __init__(self, channels, features):
        super().__init__()
        self.depth = nn.Conv2d(channels, channels, 3, padding=1, groups=channels, bias=False)
        self.point = nn.Conv2d(channels, features, 1)
        nn.init.normal_(self.depth.weight, std=0.4)
        nn.init.normal_(self.point.weight, std=1.4 * channels ** -0.5)

    def forward(self, x):
        return torch.relu(self.point(self.depth(x)))


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, features]
