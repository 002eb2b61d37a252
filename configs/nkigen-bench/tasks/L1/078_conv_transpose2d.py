# nkigrid: category=convolution
import torch
import torch.nn as nn

batch, channels, height, width, features = 2, 60, 12, 15, 32


class Model(nn.Module):
    """2 x 2 transposed convolution with stride 2: every pixel becomes four."""

    def __init__(self, channels, features):
        super().__init__()
        self.conv = nn.ConvTranspose2d(channels, features, 2, stride=2)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, features]
