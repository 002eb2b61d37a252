# nkigrid: category=matmul-epilogue
import torch
import torch.nn as nn
import torch.nn.functional as F

rows, width, first, second = 170, 120, 64, 40


class Model(nn.Module):
    """Two linear layers on one input: a plain result and a softplus."""

    def __init__(self, width, first, second):
        super().__init__()
        self.mean = nn.Linear(width, first)
        self.spread = nn.Linear(width, second)
        nn.init.normal_(self.mean.weight, std=1.2 * width ** -0.5)
        nn.init.normal_(self.spread.weight, std=1.2 * width ** -0.5)

    def forward(self, x):
        return self.mean(x), F.softplus(self.spread(x))


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return [width, first, second]
