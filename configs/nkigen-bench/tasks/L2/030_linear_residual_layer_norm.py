# nkigrid: category=normalisation
import torch
import torch.nn as nn

batch, tokens, width = 2, 90, 160


class Model(nn.Module):
    """A linear layer, the residual, and a layer normalisation: the end of a post-norm half layer."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        nn.init.normal_(self.linear.weight, std=width ** -0.5)
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.3)
        nn.init.normal_(self.norm.bias, std=0.3)

    def forward(self, x, residual):
        return self.norm(residual + self.linear(x))


def get_inputs():
    return [torch.randn(batch, tokens, width), torch.randn(batch, tokens, width)]


def get_init_inputs():
    return [width]
