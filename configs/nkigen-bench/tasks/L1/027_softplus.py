# nkigrid: category=activation
import torch
import torch.nn as nn

batch, rows, cols = 5, 60, 300


class Model(nn.Module):
    """The smooth form of ReLU, log(1 + exp(x))."""

    def forward(self, x):
        return torch.nn.functional.softplus(x)


def get_inputs():
    return [torch.randn(batch, rows, cols) * 2.0]


def get_init_inputs():
    return []
