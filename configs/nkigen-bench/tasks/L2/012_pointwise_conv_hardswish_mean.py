# nkigrid: category=convolution
# nkigrid: blind=bfloat16
# Means over many products, in which their rounding cancels.
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, channels, height, width, features = 3, 90, 14, 16, 110


class Model(nn.Module):
    """1 x 1 convolution, hard swish, and the mean over each image."""

    def __init__(self, channels, features):
        super().__init__()
        self.conv = nn.Conv2d(channels, features, 1)
        nn.init.normal_(self.conv.weight, std=3.0 * channels ** -0.5)

    def forward(self, x):
        return F.hardswish(self.conv(x)).mean(dim=(2, 3))


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, features]
