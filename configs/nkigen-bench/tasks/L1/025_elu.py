# nkigrid: category=activation
import torch
import torch.nn as nn

rows, cols = 280, 640


class Model(nn.Module):
    """Exponential linear unit."""

    def __init__(self, alpha):
        super().__init__()
        self.alpha = alpha

    def forward(self, x):
        return torch.nn.functional.elu(x, alpha=self.alpha)


def get_inputs():
    return [torch.randn(rows, cols) * 1.5]


def get_init_inputs():
    return [1.5]
