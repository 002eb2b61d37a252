# nkigrid: category=activation
# nkigrid: domain phase=unit
import torch
import torch.nn as nn

rows, cols = 256, 600


class Model(nn.Module):
    """The sine of a phase that is given in half turns."""

    def forward(self, phase):
        return torch.sin(phase * 3.0)


def get_inputs():
    return [torch.rand(rows, cols) * 2.0 - 1.0]


def get_init_inputs():
    return []
