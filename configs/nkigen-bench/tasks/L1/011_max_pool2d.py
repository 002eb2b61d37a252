# nkigrid: category=pooling
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, channels, height, width = 2, 160, 30, 30


class Model(nn.Module):
    """2 x 2 max pooling with stride 2."""

    def forward(self, x):
        return F.max_pool2d(x, kernel_size=2, stride=2)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return []
