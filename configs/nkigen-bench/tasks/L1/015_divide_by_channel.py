# nkigrid: category=elementwise
# nkigrid: domain divisor=positive
import torch
import torch.nn as nn

batch, channels, height, width = 2, 144, 20, 18


class Model(nn.Module):
    """Each channel of an image divided by its own number."""

    def forward(self, x, divisor):
        return x / divisor[:, None, None]


def get_inputs():
    return [torch.randn(batch, channels, height, width), torch.rand(channels) + 0.5]


def get_init_inputs():
    return []
