# nkigrid: category=convolution
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, channels, height, width, features = 2, 70, 14, 15, 60


class Model(nn.Module):
    """1 x 1 convolution, instance normalisation, leaky ReLU."""

    def __init__(self, channels, features, eps, slope):
        super().__init__()
        self.conv = nn.Conv2d(channels, features, 1, bias=False)
        self.eps, self.slope = eps, slope

    def forward(self, x):
        return F.leaky_relu(F.instance_norm(self.conv(x), eps=self.eps), self.slope)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, features, 1e-5, 0.1]
