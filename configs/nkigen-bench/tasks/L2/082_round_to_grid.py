# nkigrid: category=quantisation
# nkigrid: domain x=unit
import torch
import torch.nn as nn

batch, channels, height, width = 2, 100, 12, 15


class Model(nn.Module):
    """Values as whole numbers of steps of 1/32, held at 15 steps to each side, times a scale of each channel."""

    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(0.1 + 0.1 * torch.rand(channels, 1, 1))

    def forward(self, x):
        return torch.clamp(torch.floor(x * 32.0), -15.0, 15.0) * self.scale


def get_inputs():
    return [
        (
            torch.randint(-24, 24, (batch, channels, height, width))
            + 0.2
            + 0.6 * torch.rand(batch, channels, height, width)
        )
        / 32.0
    ]


def get_init_inputs():
    return [channels]
