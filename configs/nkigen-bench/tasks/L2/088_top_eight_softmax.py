# nkigrid: category=sorting
import torch
import torch.nn as nn

rows, experts = 220, 64


class Model(nn.Module):
    """The eight largest scores of each row and their softmax: the gates of a router."""

    def forward(self, x):
        return torch.softmax(torch.topk(x, 8, dim=1).values, dim=1)


def get_inputs():
    return [torch.randn(rows, experts) * 2.0]


def get_init_inputs():
    return []
