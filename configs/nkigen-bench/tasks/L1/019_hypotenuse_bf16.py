# nkigrid: category=elementwise
import torch
import torch.nn as nn

rows, cols = 300, 512


class Model(nn.Module):
    """The length of each pair, from bfloat16 inputs."""

    def forward(self, x, y):
        return torch.sqrt(x.float() * x.float() + y.float() * y.float())


def get_inputs():
    return [torch.randn(rows, cols).bfloat16(), torch.randn(rows, cols).bfloat16()]


def get_init_inputs():
    return []
