# nkigrid: category=convolution
import torch
import torch.nn as nn

batch, channels, features, height, width = 2, 40, 24, 14, 14


class Model(nn.Module):
    """3 x 3 convolutions with gaps of 1, 2 and 4 on the same image, summed with a factor of each, then ReLU."""

    def __init__(self, channels, features):
        super().__init__()
        self.share = nn.Parameter(torch.rand(3) + 0.5)
        self.convs = nn.ModuleList(
            [nn.Conv2d(channels, features, 3, padding=g, dilation=g, bias=False) for g in (1, 2, 4)]
        )
        for conv in self.convs:
            nn.init.normal_(conv.weight, std=(9 * channels) ** -0.5)

    def forward(self, x):
        return torch.relu(sum(self.share[i] * conv(x) for i, conv in enumerate(self.convs)))


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, features]
