# nkigrid: category=activation
import torch
import torch.nn as nn

rows, cols = 310, 330


class Model(nn.Module):
    """What tanh takes away from x."""

    def forward(self, x):
        return x - torch.tanh(x)


def get_inputs():
    return [torch.randn(rows, cols) * 2.0]


def get_init_inputs():
    return []
