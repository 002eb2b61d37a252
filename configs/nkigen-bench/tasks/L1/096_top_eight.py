# nkigrid: category=sorting
import torch
import torch.nn as nn

rows, cols = 260, 500


class Model(nn.Module):
    """The eight largest values of each row, falling."""

    def forward(self, x):
        return torch.topk(x, 8, dim=1).values


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
