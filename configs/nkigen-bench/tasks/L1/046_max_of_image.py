# nkigrid: category=reduction
import torch
import torch.nn as nn

batch, channels, height, width = 4, 80, 15, 17


class Model(nn.Module):
    """The largest value of each channel's image."""

    def forward(self, x):
        return torch.amax(x, dim=(2, 3))


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return []
