# nkigrid: category=indexing
# nkigrid: domain place=index 90
import torch
import torch.nn as nn

rows, width, count = 250, 90, 40


class Model(nn.Module):
    """From each row the values at its own list of places."""

    def forward(self, x, place):
        return torch.gather(x, 1, place)


def get_inputs():
    return [torch.randn(rows, width), torch.randint(0, width, (rows, count))]


def get_init_inputs():
    return []
