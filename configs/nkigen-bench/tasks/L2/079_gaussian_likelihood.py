# nkigrid: category=loss
# nkigrid: domain variance=positive
import torch
import torch.nn as nn

batch, rows, cols = 3, 64, 128


class Model(nn.Module):
    """The negative logarithm of a normal density with a mean and a variance for each value, the mean of each row."""

    def forward(self, x, mean, variance):
        return torch.mean(0.5 * (torch.log(variance) + (x - mean) ** 2 / variance), dim=-1)


def get_inputs():
    return [
        torch.randn(batch, rows, cols) * (0.3 + torch.rand(batch, rows, 1)),
        torch.randn(batch, rows, cols),
        torch.rand(batch, rows, cols) + 0.3,
    ]


def get_init_inputs():
    return []
