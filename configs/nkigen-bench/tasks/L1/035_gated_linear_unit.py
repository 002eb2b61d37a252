# nkigrid: category=activation
import torch
import torch.nn as nn

batch, rows, width = 2, 150, 512


class Model(nn.Module):
    """The first half of the features, gated by the sigmoid of the second."""

    def forward(self, x):
        return x[..., : width // 2] * torch.sigmoid(x[..., width // 2 :])


def get_inputs():
    return [torch.randn(batch, rows, width) * 1.5]


def get_init_inputs():
    return []
