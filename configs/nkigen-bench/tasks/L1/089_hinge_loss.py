# nkigrid: category=loss
# nkigrid: domain sign=index 2
import torch
import torch.nn as nn

rows, cols = 256, 130


class Model(nn.Module):
    """Mean hinge loss of each row of scores against signs that are given as 0 and 1."""

    def forward(self, score, sign):
        return torch.mean(torch.clamp(1.0 - (2.0 * sign - 1.0) * score, min=0.0), dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(rows, cols) * (0.5 + torch.rand(rows, 1)), torch.randint(0, 2, (rows, cols))]


def get_init_inputs():
    return []
