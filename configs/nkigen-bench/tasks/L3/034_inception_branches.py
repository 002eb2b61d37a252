# nkigrid: category=convolution
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, channels, height, width = 2, 64, 12, 14


class Model(nn.Module):
    """Three branches side by side: 1 x 1, 1 x 1 then 3 x 3, and a 3 x 3 maximum then 1 x 1."""

    def __init__(self, channels):
        super().__init__()
        self.point = nn.Conv2d(channels, 24, 1)
        self.narrow = nn.Conv2d(channels, 16, 1)
        self.wide = nn.Conv2d(16, 40, 3, padding=1)
        self.pooled = nn.Conv2d(channels, 32, 1)
        for conv in (self.point, self.narrow, self.wide, self.pooled):
            nn.init.normal_(conv.weight, std=1.3 * conv.weight[0].numel() ** -0.5)

    def forward(self, x):
        wide = self.wide(torch.relu(self.narrow(x)))
        pooled = self.pooled(F.max_pool2d(x, 3, stride=1, padding=1))
        return torch.relu(torch.cat((self.point(x), wide, pooled), dim=1))


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels]
