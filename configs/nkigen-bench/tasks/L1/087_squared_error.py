# nkigrid: category=loss
import torch
import torch.nn as nn

rows, cols = 300, 440


class Model(nn.Module):
    """Mean squared error of each row."""

    def forward(self, prediction, target):
        return torch.mean((prediction - target) ** 2, dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(rows, cols), torch.randn(rows, cols) * (0.2 + torch.rand(rows, 1))]


def get_init_inputs():
    return []
