# nkigrid: category=normalisation
import torch
import torch.nn as nn

batch, channels, height, width = 2, 120, 12, 16


class Model(nn.Module):
    """Layer normalisation over the channels of each pixel, channels first."""

    def __init__(self, channels, eps):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(1.0 + 0.3 * torch.randn(channels))
        self.bias = nn.Parameter(0.3 * torch.randn(channels))

    def forward(self, x):
        mean = x.mean(dim=1, keepdim=True)
        variance = ((x - mean) ** 2).mean(dim=1, keepdim=True)
        unit = (x - mean) * torch.rsqrt(variance + self.eps)
        return unit * self.weight[:, None, None] + self.bias[:, None, None]


def get_inputs():
    return [torch.randn(batch, channels, height, width) + 0.5]


def get_init_inputs():
    return [channels, 1e-6]
