# nkigrid: category=matmul
import torch
import torch.nn as nn

rows, width, depth = 192, 90, 110


class Model(nn.Module):
    """x^T W y for each pair of rows."""

    def forward(self, x, y, w):
        return torch.sum(torch.matmul(x, w) * y, dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(rows, width), torch.randn(rows, depth), torch.randn(width, depth) * 0.03]


def get_init_inputs():
    return []
