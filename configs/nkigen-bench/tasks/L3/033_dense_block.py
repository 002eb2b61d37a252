# nkigrid: category=convolution
import torch
import torch.nn as nn

batch, channels, growth, height, width = 2, 24, 16, 13, 12


class Model(nn.Module):
    """Two 3 x 3 convolutions, each fed with all that came before and set beside it."""

    def __init__(self, channels, growth):
        super().__init__()
        self.first = nn.Conv2d(channels, growth, 3, padding=1, bias=False)
        self.second = nn.Conv2d(channels + growth, growth, 3, padding=1, bias=False)
        nn.init.normal_(self.first.weight, std=1.4 * (9 * channels) ** -0.5)
        nn.init.normal_(self.second.weight, std=1.4 * (9 * (channels + growth)) ** -0.5)

    def forward(self, x):
        x = torch.cat((x, self.first(torch.relu(x))), dim=1)
        return torch.cat((x, self.second(torch.relu(x))), dim=1)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, growth]
