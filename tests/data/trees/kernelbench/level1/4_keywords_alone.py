import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, *, width, bias=True):
        super().__init__()
        self.linear = nn.Linear(width, width, bias=bias)

    def forward(self, x):
        return self.linear(x)


def get_inputs():
    return [torch.randn(2, 8)]


def get_init_inputs():
    return {"width": 8, "bias": False}
