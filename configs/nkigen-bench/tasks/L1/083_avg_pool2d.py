# nkigrid: category=pooling
import torch
import torch.nn as nn

batch, channels, height, width = 2, 130, 21, 18


class Model(nn.Module):
    """3 x 3 average pooling with stride 3."""

    def forward(self, x):
        return 3.0 * nn.functional.avg_pool2d(x, 3)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return []
