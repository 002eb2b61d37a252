# nkigrid: category=convolution
import torch
import torch.nn as nn

batch, channels, height, width, features = 2, 72, 10, 13, 24


class Model(nn.Module):
    """2 x 2 transposed convolution with stride 2, then tanh."""

    def __init__(self, channels, features):
        super().__init__()
        self.conv = nn.ConvTranspose2d(channels, features, 2, stride=2)
        nn.init.normal_(self.conv.weight, std=1.3 * channels ** -0.5)

    def forward(self, x):
        return torch.tanh(self.conv(x))


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, features]
