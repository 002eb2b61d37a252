# nkigrid: category=convolution
# nkigrid: domain norm_1_running_var=positive
# nkigrid: domain norm_2_running_var=positive
import torch
import torch.nn as nn

batch, channels, height, width = 2, 48, 14, 15


class Model(nn.Module):
    """A residual block of two 3 x 3 convolutions, each with batch normalisation by running statistics."""

    def __init__(self, channels):
        super().__init__()
        self.conv_1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.conv_2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm_1 = nn.BatchNorm2d(channels)
        self.norm_2 = nn.BatchNorm2d(channels)
        for conv in (self.conv_1, self.conv_2):
            nn.init.normal_(conv.weight, std=1.3 * (9 * channels) ** -0.5)
        for norm in (self.norm_1, self.norm_2):
            nn.init.normal_(norm.weight, mean=1.0, std=0.2)
            nn.init.normal_(norm.bias, std=0.3)
            norm.running_mean.copy_(0.3 * torch.randn(channels))
            norm.running_var.copy_(0.5 + torch.rand(channels))

    def forward(self, x):
        y = torch.relu(self.norm_1(self.conv_1(x)))
        return torch.relu(x + self.norm_2(self.conv_2(y)))


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels]
