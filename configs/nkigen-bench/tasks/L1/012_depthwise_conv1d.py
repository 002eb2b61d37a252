# nkigrid: category=convolution
import torch
import torch.nn as nn

batch, channels, length, taps = 2, 192, 500, 4


class Model(nn.Module):
    """Each channel convolved with its own four taps, without padding."""

    def __init__(self, channels, taps):
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, taps, groups=channels)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(batch, channels, length)]


def get_init_inputs():
    return [channels, taps]
