# nkigrid: category=matmul-epilogue
import torch
import torch.nn as nn

rows, width, features = 250, 200, 96


class Model(nn.Module):
    """A linear layer, a sigmoid, and one factor."""

    def __init__(self, width, features, scale):
        super().__init__()
        self.linear = nn.Linear(width, features)
        self.scale = scale
        nn.init.normal_(self.linear.weight, std=2.0 * width ** -0.5)

    def forward(self, x):
        return self.scale * torch.sigmoid(self.linear(x))


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return [width, features, 3.0]
