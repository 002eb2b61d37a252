# nkigrid: category=activation
import torch
import torch.nn as nn

batch, rows, cols = 2, 128, 360


class Model(nn.Module):
    """The tanh form of GELU, from bfloat16 inputs."""

    def forward(self, x):
        return torch.nn.functional.gelu(x.float(), approximate="tanh")


def get_inputs():
    return [(torch.randn(batch, rows, cols) * 1.5).bfloat16()]


def get_init_inputs():
    return []
