# nkigrid: category=convolution
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, channels, length, gap = 2, 72, 160, 3


class Model(nn.Module):
    """Two causal convolutions with three taps that lie three steps apart, each with ReLU, and the skip."""

    def __init__(self, channels, gap):
        super().__init__()
        self.gap = gap
        self.first = nn.Conv1d(channels, channels, 3, dilation=gap)
        self.second = nn.Conv1d(channels, channels, 3, dilation=gap)
        nn.init.normal_(self.first.weight, std=1.4 * (3 * channels) ** -0.5)
        nn.init.normal_(self.second.weight, std=1.4 * (3 * channels) ** -0.5)

    def forward(self, x):
        y = torch.relu(self.first(F.pad(x, (2 * self.gap, 0))))
        y = torch.relu(self.second(F.pad(y, (2 * self.gap, 0))))
        return torch.relu(x + y)


def get_inputs():
    return [torch.randn(batch, channels, length)]


def get_init_inputs():
    return [channels, gap]
