# nkigrid: category=convolution
import torch
import torch.nn as nn

batch, channels, height, width, features = 2, 36, 16, 18, 80


class Model(nn.Module):
    """3 x 3 convolution, then ReLU."""

    def __init__(self, channels, features):
        super().__init__()
        self.conv = nn.Conv2d(channels, features, 3)
        nn.init.normal_(self.conv.weight, std=1.4 * (9 * channels) ** -0.5)

    def forward(self, x):
        return torch.relu(self.conv(x))


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, features]
