# nkigrid: category=elementwise
# nkigrid: domain x=index 1000
import torch
import torch.nn as nn

rows, cols = 300, 400


class Model(nn.Module):
    """A linear map of whole numbers, its low six bits."""

    def forward(self, x):
        return ((x * 3 + 7) % 64).int()


def get_inputs():
    return [torch.randint(0, 1000, (rows, cols))]


def get_init_inputs():
    return []
