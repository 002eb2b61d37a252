# nkigrid: category=residual
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, channels, height, width = 2, 54, 16, 17


class Model(nn.Module):
    """relu(x + instance_norm(y))."""

    def forward(self, x, y):
        return torch.relu(x + F.instance_norm(y))


def get_inputs():
    return [torch.randn(batch, channels, height, width), torch.randn(batch, channels, height, width) * 2.0 + 1.0]


def get_init_inputs():
    return []
