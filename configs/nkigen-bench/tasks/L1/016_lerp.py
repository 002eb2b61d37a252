# nkigrid: category=elementwise
# nkigrid: domain weight=probability
import torch
import torch.nn as nn

rows, cols = 384, 700


class Model(nn.Module):
    """Moves from x towards y by a weight of its own in each place."""

    def forward(self, x, y, weight):
        return x + weight * (y - x)


def get_inputs():
    return [torch.randn(rows, cols), torch.randn(rows, cols), torch.rand(rows, cols)]


def get_init_inputs():
    return []
