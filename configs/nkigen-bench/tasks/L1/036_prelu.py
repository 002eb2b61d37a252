# nkigrid: category=activation
import torch
import torch.nn as nn

batch, channels, height, width = 2, 150, 14, 14


class Model(nn.Module):
    """Leaky ReLU with a slope of its own in each channel."""

    def __init__(self, channels):
        super().__init__()
        self.slope = nn.Parameter(0.25 + 0.5 * torch.rand(channels))

    def forward(self, x):
        return torch.where(x > 0, x, self.slope[:, None, None] * x)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels]
