# nkigrid: category=convolution
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, channels, length, features = 2, 88, 180, 100


class Model(nn.Module):
    """A convolution whose first half of features is gated by the second."""

    def __init__(self, channels, features):
        super().__init__()
        self.conv = nn.Conv1d(channels, 2 * features, 3)
        nn.init.normal_(self.conv.weight, std=1.5 * (3 * channels) ** -0.5)

    def forward(self, x):
        return F.glu(self.conv(x), dim=1)


def get_inputs():
    return [torch.randn(batch, channels, length)]


def get_init_inputs():
    return [channels, features]
