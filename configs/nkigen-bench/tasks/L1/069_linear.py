# nkigrid: category=matmul
import torch
import torch.nn as nn

batch, tokens, width, features = 2, 140, 160, 240


class Model(nn.Module):
    """A linear layer over the last axis of a 3-D tensor."""

    def __init__(self, width, features):
        super().__init__()
        self.linear = nn.Linear(width, features)

    def forward(self, x):
        return self.linear(x)


def get_inputs():
    return [torch.randn(batch, tokens, width)]


def get_init_inputs():
    return [width, features]
