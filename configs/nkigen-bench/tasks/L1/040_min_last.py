# nkigrid: category=reduction
import torch
import torch.nn as nn

batch, rows, cols = 3, 140, 310


class Model(nn.Module):
    """The least value of each row."""

    def forward(self, x):
        return torch.amin(x, dim=-1)


def get_inputs():
    return [torch.randn(batch, rows, cols)]


def get_init_inputs():
    return []
