# nkigrid: category=convolution
import torch
import torch.nn as nn

batch, channels, length, taps = 2, 112, 330, 4


class Model(nn.Module):
    """Depthwise convolution of bfloat16 signals that sees only the past."""

    def __init__(self, channels, taps):
        super().__init__()
        self.weight = nn.Parameter(0.5 * torch.randn(channels, 1, taps))

    def forward(self, x):
        past = nn.functional.pad(x.float(), (taps - 1, 0))
        return nn.functional.conv1d(past, self.weight, groups=self.weight.shape[0])


def get_inputs():
    return [torch.randn(batch, channels, length).bfloat16()]


def get_init_inputs():
    return [channels, taps]
