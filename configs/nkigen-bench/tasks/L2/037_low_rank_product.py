# nkigrid: category=matmul
import torch
import torch.nn as nn

rows, width, rank, features = 230, 256, 24, 300


class Model(nn.Module):
    """A linear map through a narrow middle: x @ down @ up."""

    def forward(self, x, down, up):
        return torch.matmul(torch.matmul(x, down), up)


def get_inputs():
    return [torch.randn(rows, width), torch.randn(width, rank) * width ** -0.5, torch.randn(rank, features) * 0.3]


def get_init_inputs():
    return []
