# nkigrid: category=resampling
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, channels, features, height, width = 2, 80, 48, 9, 12


class Model(nn.Module):
    """A coarse map at twice its height and width, bilinear, added to a 1 x 1 convolution of the fine map."""

    def __init__(self, channels, features):
        super().__init__()
        self.lateral = nn.Conv2d(channels, features, 1)
        nn.init.normal_(self.lateral.weight, std=1.5 * channels ** -0.5)

    def forward(self, coarse, fine):
        grown = F.interpolate(coarse, scale_factor=2, mode="bilinear", align_corners=False)
        return grown + self.lateral(fine)


def get_inputs():
    return [
        torch.randn(batch, features, height, width) * 2.0,
        torch.randn(batch, channels, 2 * height, 2 * width),
    ]


def get_init_inputs():
    return [channels, features]
