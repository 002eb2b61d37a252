# nkigrid: category=convolution
import torch
import torch.nn as nn

batch, channels, length, features = 3, 60, 200, 90


class Model(nn.Module):
    """Convolution with two taps, one factor a feature, then a clamp."""

    def __init__(self, channels, features):
        super().__init__()
        self.conv = nn.Conv1d(channels, features, 2)
        self.scale = nn.Parameter(1.0 + torch.rand(features, 1))

    def forward(self, x):
        return torch.clamp(self.conv(x) * self.scale, -0.9, 1.1)


def get_inputs():
    return [torch.randn(batch, channels, length)]


def get_init_inputs():
    return [channels, features]
