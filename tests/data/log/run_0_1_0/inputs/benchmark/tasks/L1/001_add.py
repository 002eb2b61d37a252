# nkigrid: category=elementwise
import torch
import torch.nn as nn

rows, cols = 300, 700


class Model(nn.Module):
    """Adds a scaled second operand."""

    def __init__(self, alpha):
        super().__init__()
        self.alpha = alpha

    def forward(self, x, y):
        return x + self.alpha * y


def get_inputs():
    return [torch.randn(rows, cols), torch.randn(rows, cols)]


def get_init_inputs():
    return [0.5]
