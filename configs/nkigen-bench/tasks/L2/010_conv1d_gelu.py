# nkigrid: category=convolution
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, channels, length, features = 2, 100, 256, 120


class Model(nn.Module):
    """Convolution with three taps that keeps the length, then GELU."""

    def __init__(self, channels, features):
        super().__init__()
        self.conv = nn.Conv1d(channels, features, 3, padding=1)
        nn.init.normal_(self.conv.weight, std=1.5 * (3 * channels) ** -0.5)

    def forward(self, x):
        return F.gelu(self.conv(x))


def get_inputs():
    return [torch.randn(batch, channels, length)]


def get_init_inputs():
    return [channels, features]
