# nkigrid: category=normalisation
import torch
import torch.nn as nn

rows, width = 300, 200


class Model(nn.Module):
    """Rows scaled to one length."""

    def __init__(self, length):
        super().__init__()
        self.length = length

    def forward(self, x):
        return x * (self.length / torch.sqrt(torch.sum(x * x, dim=1, keepdim=True)))


def get_inputs():
    return [torch.randn(rows, width) * (0.5 + torch.rand(rows, 1))]


def get_init_inputs():
    return [10.0]
