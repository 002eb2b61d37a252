# nkigrid: category=convolution
import torch
import torch.nn as nn

batch, channels, inner, height, width = 2, 192, 64, 14, 14


class Model(nn.Module):
    """A residual bottleneck of three 1 x 1 convolutions."""

    def __init__(self, channels, inner):
        super().__init__()
        self.reduce = nn.Conv2d(channels, inner, 1)
        self.mix = nn.Conv2d(inner, inner, 1)
        self.expand = nn.Conv2d(inner, channels, 1)
        nn.init.normal_(self.reduce.weight, std=1.4 * channels ** -0.5)
        nn.init.normal_(self.mix.weight, std=1.4 * inner ** -0.5)
        nn.init.normal_(self.expand.weight, std=1.4 * inner ** -0.5)

    def forward(self, x):
        y = torch.relu(self.reduce(x))
        y = torch.relu(self.mix(y))
        return torch.relu(x + self.expand(y))


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, inner]
