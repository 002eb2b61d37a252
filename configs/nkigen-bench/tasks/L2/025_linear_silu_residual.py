# nkigrid: category=matmul-epilogue
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, tokens, width = 2, 110, 128


class Model(nn.Module):
    """A linear layer with SiLU, added to its input."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        nn.init.normal_(self.linear.weight, std=1.5 * width ** -0.5)

    def forward(self, x):
        return x + F.silu(self.linear(x))


def get_inputs():
    return [torch.randn(batch, tokens, width)]


def get_init_inputs():
    return [width]
