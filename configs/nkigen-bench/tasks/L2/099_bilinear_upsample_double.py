# nkigrid: category=resampling
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, channels, height, width = 2, 80, 9, 12


class Model(nn.Module):
    """An image at twice its width, between its pixels by straight lines along the width."""

    def forward(self, x):
        return F.interpolate(x, size=(x.shape[2], 2 * x.shape[3]), mode="bilinear", align_corners=False)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return []
