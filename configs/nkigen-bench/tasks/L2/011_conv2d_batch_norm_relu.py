# nkigrid: category=convolution
# nkigrid: domain norm_running_var=positive
import torch
import torch.nn as nn

batch, channels, height, width, features = 2, 128, 15, 18, 96


class Model(nn.Module):
    """1 x 1 convolution, batch normalisation by running statistics, ReLU."""

    def __init__(self, channels, features):
        super().__init__()
        self.conv = nn.Conv2d(channels, features, 1, bias=False)
        self.norm = nn.BatchNorm2d(features)
        nn.init.normal_(self.conv.weight, std=1.5 * channels ** -0.5)
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.3)
        nn.init.normal_(self.norm.bias, std=0.5)
        self.norm.running_mean.copy_(0.5 * torch.randn(features))
        self.norm.running_var.copy_(0.5 + torch.rand(features))

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, features]
