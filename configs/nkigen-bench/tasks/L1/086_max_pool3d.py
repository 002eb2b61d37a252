# nkigrid: category=pooling
import torch
import torch.nn as nn

batch, channels, depth, height, width = 2, 36, 6, 10, 12


class Model(nn.Module):
    """2 x 2 x 2 maximum pooling of volumes."""

    def forward(self, x):
        return nn.functional.max_pool3d(x, 2)


def get_inputs():
    return [torch.randn(batch, channels, depth, height, width)]


def get_init_inputs():
    return []
