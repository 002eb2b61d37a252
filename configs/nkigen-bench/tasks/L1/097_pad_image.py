# nkigrid: category=padding
import torch
import torch.nn as nn

batch, channels, height, width = 2, 110, 13, 17


class Model(nn.Module):
    """An image in a frame of a constant, wider on the right and at the bottom."""

    def __init__(self, value):
        super().__init__()
        self.value = value

    def forward(self, x):
        return nn.functional.pad(x, (1, 3, 2, 4), value=self.value)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [0.5]
