# nkigrid: category=convolution
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, channels, features, height, width = 2, 24, 48, 16, 18


class Model(nn.Module):
    """The downward half of a U-Net stage: two 3 x 3 convolutions with ReLU, kept for the skip, and their 2 x 2
    maximum."""

    def __init__(self, channels, features):
        super().__init__()
        self.first = nn.Conv2d(channels, features, 3, padding=1)
        self.second = nn.Conv2d(features, features, 3, padding=1)
        nn.init.normal_(self.first.weight, std=1.4 * (9 * channels) ** -0.5)
        nn.init.normal_(self.second.weight, std=1.4 * (9 * features) ** -0.5)

    def forward(self, x):
        kept = torch.relu(self.second(torch.relu(self.first(x))))
        return kept, F.max_pool2d(kept, 2)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, features]
