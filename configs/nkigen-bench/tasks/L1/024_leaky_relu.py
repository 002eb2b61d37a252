# nkigrid: category=activation
import torch
import torch.nn as nn

batch, rows, cols = 2, 170, 300


class Model(nn.Module):
    """ReLU that lets a part of what is negative through."""

    def __init__(self, slope):
        super().__init__()
        self.slope = slope

    def forward(self, x):
        return torch.nn.functional.leaky_relu(x, self.slope)


def get_inputs():
    return [torch.randn(batch, rows, cols)]


def get_init_inputs():
    return [0.2]
