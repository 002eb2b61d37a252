# nkigrid: category=pooling
import torch
import torch.nn as nn

batch, channels, height, width, classes = 6, 100, 9, 11, 40


class Model(nn.Module):
    """The mean over each image, then class scores."""

    def __init__(self, channels, classes):
        super().__init__()
        self.linear = nn.Linear(channels, classes)
        nn.init.normal_(self.linear.weight, std=3.0 * channels ** -0.5)

    def forward(self, x):
        return self.linear(x.mean(dim=(2, 3)))


def get_inputs():
    return [torch.randn(batch, channels, height, width) + torch.randn(batch, channels, 1, 1)]


def get_init_inputs():
    return [channels, classes]
