# nkigrid: category=matmul-epilogue
import torch
import torch.nn as nn

batch, size, depth = 3, 140, 64


class Model(nn.Module):
    """The lower triangle of the products of two batches, scaled."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, q, k):
        return torch.tril(self.scale * torch.bmm(q, k.transpose(1, 2)))


def get_inputs():
    return [torch.randn(batch, size, depth), torch.randn(batch, size, depth)]


def get_init_inputs():
    return [0.125]
