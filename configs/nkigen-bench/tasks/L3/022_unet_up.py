# nkigrid: category=convolution
import torch
import torch.nn as nn

batch, channels, features, height, width = 2, 64, 32, 8, 9


class Model(nn.Module):
    """The upward half of a U-Net stage: transposed convolution, the skip beside it, and a 3 x 3 convolution with
    ReLU."""

    def __init__(self, channels, features):
        super().__init__()
        self.grow = nn.ConvTranspose2d(channels, features, 2, stride=2)
        self.conv = nn.Conv2d(2 * features, features, 3, padding=1)
        nn.init.normal_(self.grow.weight, std=1.2 * channels ** -0.5)
        nn.init.normal_(self.conv.weight, std=1.4 * (18 * features) ** -0.5)

    def forward(self, x, skip):
        return torch.relu(self.conv(torch.cat((self.grow(x), skip), dim=1)))


def get_inputs():
    return [torch.randn(batch, channels, height, width), torch.randn(batch, features, 2 * height, 2 * width)]


def get_init_inputs():
    return [channels, features]
