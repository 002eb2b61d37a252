# nkigrid: category=convolution
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, channels, height, width, features = 2, 32, 18, 22, 64


class Model(nn.Module):
    """3 x 3 convolution, then 2 x 2 maximum pooling."""

    def __init__(self, channels, features):
        super().__init__()
        self.conv = nn.Conv2d(channels, features, 3)

    def forward(self, x):
        return F.max_pool2d(self.conv(x), 2)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, features]
