# nkigrid: category=normalisation
# nkigrid: domain norm_running_var=positive
import torch
import torch.nn as nn

batch, channels, height, width = 3, 144, 10, 14


class Model(nn.Module):
    """Batch normalisation by its running statistics."""

    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.4)
        nn.init.normal_(self.norm.bias, std=0.5)
        self.norm.running_mean.copy_(torch.randn(channels))
        self.norm.running_var.copy_(0.3 + torch.rand(channels))

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels]
