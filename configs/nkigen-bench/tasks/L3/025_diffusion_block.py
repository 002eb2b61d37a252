# nkigrid: category=diffusion
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, channels, embedding, height, width, groups = 2, 32, 48, 12, 14, 4


class Model(nn.Module):
    """Group norm, SiLU and a 3 x 3 convolution, a shift of each channel from the time vector, and the skip."""

    def __init__(self, channels, embedding, groups):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels, eps=1e-6)
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.time = nn.Linear(embedding, channels)
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.2)
        nn.init.normal_(self.norm.bias, std=0.2)
        nn.init.normal_(self.conv.weight, std=1.3 * (9 * channels) ** -0.5)
        nn.init.normal_(self.time.weight, std=1.3 * embedding ** -0.5)

    def forward(self, x, moment):
        return x + self.conv(F.silu(self.norm(x))) + self.time(F.silu(moment))[:, :, None, None]


def get_inputs():
    return [torch.randn(batch, channels, height, width) * 1.5, torch.randn(batch, embedding)]


def get_init_inputs():
    return [channels, embedding, groups]
