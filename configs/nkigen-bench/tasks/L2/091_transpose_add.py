# nkigrid: category=transpose
import torch
import torch.nn as nn

batch, size = 3, 192


class Model(nn.Module):
    """A matrix plus the transpose of another: what is needed to make one symmetric."""

    def forward(self, x, y):
        return 0.5 * (x + y.transpose(1, 2))


def get_inputs():
    return [torch.randn(batch, size, size), torch.randn(batch, size, size)]


def get_init_inputs():
    return []
