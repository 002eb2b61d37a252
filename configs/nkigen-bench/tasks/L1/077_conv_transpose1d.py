# nkigrid: category=convolution
import torch
import torch.nn as nn

batch, channels, length, features = 2, 80, 150, 56


class Model(nn.Module):
    """Transposed convolution that doubles the length of a signal."""

    def __init__(self, channels, features):
        super().__init__()
        self.conv = nn.ConvTranspose1d(channels, features, 4, stride=2, padding=1)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(batch, channels, length)]


def get_init_inputs():
    return [channels, features]
