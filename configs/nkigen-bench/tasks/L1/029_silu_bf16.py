# nkigrid: category=activation
import torch
import torch.nn as nn

rows, cols = 256, 768


class Model(nn.Module):
    """x times its sigmoid, from bfloat16 inputs."""

    def forward(self, x):
        return x.float() * torch.sigmoid(x.float())


def get_inputs():
    return [(torch.randn(rows, cols) * 2.0).bfloat16()]


def get_init_inputs():
    return []
