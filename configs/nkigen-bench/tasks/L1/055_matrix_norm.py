# nkigrid: category=normalisation
import torch
import torch.nn as nn

batch, rows, cols = 6, 90, 110


class Model(nn.Module):
    """Each matrix of a batch over its Frobenius norm, stretched so that its entries are of order one."""

    def forward(self, x):
        return x * (8.0 * rows ** 0.5) / torch.sqrt(torch.sum(x * x, dim=(1, 2), keepdim=True))


def get_inputs():
    return [torch.randn(batch, rows, cols) * (0.5 + torch.rand(batch, 1, 1))]


def get_init_inputs():
    return []
