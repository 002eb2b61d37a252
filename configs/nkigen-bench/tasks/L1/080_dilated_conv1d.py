# nkigrid: category=convolution
import torch
import torch.nn as nn

batch, channels, length, features, gap = 3, 80, 250, 64, 4


class Model(nn.Module):
    """Convolution whose three taps lie four steps apart."""

    def __init__(self, channels, features, gap):
        super().__init__()
        self.conv = nn.Conv1d(channels, features, 3, dilation=gap)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(batch, channels, length)]


def get_init_inputs():
    return [channels, features, gap]
