# nkigrid: category=convolution
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, channels, height, width = 2, 32, 12, 13


class Model(nn.Module):
    """Depthwise 5 x 5 convolution, layer norm over channels, a pointwise MLP four times as wide, and the skip."""

    def __init__(self, channels):
        super().__init__()
        self.depth = nn.Conv2d(channels, channels, 5, padding=2, groups=channels)
        self.norm = nn.LayerNorm(channels, eps=1e-6)
        self.up = nn.Linear(channels, 4 * channels)
        self.down = nn.Linear(4 * channels, channels)
        nn.init.normal_(self.depth.weight, std=0.3)
        nn.init.normal_(self.up.weight, std=1.4 * channels ** -0.5)
        nn.init.normal_(self.down.weight, std=1.5 * (4 * channels) ** -0.5)
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.2)
        nn.init.normal_(self.norm.bias, std=0.2)

    def forward(self, x):
        y = self.norm(self.depth(x).permute(0, 2, 3, 1))
        return x + self.down(F.gelu(self.up(y))).permute(0, 3, 1, 2)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels]
