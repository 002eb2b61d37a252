# nkigrid: category=activation
import torch
import torch.nn as nn

batch, rows, cols = 6, 50, 200


class Model(nn.Module):
    """The logarithm of the sigmoid."""

    def forward(self, x):
        return torch.nn.functional.logsigmoid(x)


def get_inputs():
    return [torch.randn(batch, rows, cols) * 2.0]


def get_init_inputs():
    return []
