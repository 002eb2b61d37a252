# nkigrid: category=transpose
import torch
import torch.nn as nn

batch, channels, height, width = 2, 150, 12, 20


class Model(nn.Module):
    """An image from channels first to channels last."""

    def forward(self, x):
        return x.permute(0, 2, 3, 1).contiguous()


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return []
