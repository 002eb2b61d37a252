# nkigrid: category=quantisation
# nkigrid: domain x=unit
import torch
import torch.nn as nn

rows, cols = 250, 320


class Model(nn.Module):
    """Values as whole numbers of steps of 1/128, and what the rounding took away, in steps."""

    def forward(self, x):
        steps = x * 128.0
        codes = torch.floor(steps)
        return codes.int(), steps - codes


def get_inputs():
    return [(torch.randint(-127, 127, (rows, cols)) + 0.2 + 0.6 * torch.rand(rows, cols)) / 128.0]


def get_init_inputs():
    return []
