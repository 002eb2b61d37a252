# nkigrid: category=normalisation
import torch
import torch.nn as nn

batch, tokens, width = 3, 80, 300


class Model(nn.Module):
    """The sum of two streams, normalised; the sum is given back as well."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.3)
        nn.init.normal_(self.norm.bias, std=0.3)

    def forward(self, x, y):
        total = x + y
        return self.norm(total), total


def get_inputs():
    return [torch.randn(batch, tokens, width), torch.randn(batch, tokens, width)]


def get_init_inputs():
    return [width]
