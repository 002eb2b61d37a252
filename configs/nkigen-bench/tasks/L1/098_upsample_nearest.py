# nkigrid: category=resampling
import torch
import torch.nn as nn

batch, channels, height, width = 2, 66, 14, 11


class Model(nn.Module):
    """Every pixel becomes a square of two by two."""

    def forward(self, x):
        return nn.functional.interpolate(x, scale_factor=2, mode="nearest")


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return []
