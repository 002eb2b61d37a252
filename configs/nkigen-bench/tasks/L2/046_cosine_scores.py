# nkigrid: category=matmul
import torch
import torch.nn as nn

batch, queries, keys, depth = 2, 90, 120, 64


class Model(nn.Module):
    """The cosines between all pairs of rows of two batches, stretched."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, q, k):
        q = q / q.norm(dim=-1, keepdim=True)
        k = k / k.norm(dim=-1, keepdim=True)
        return self.scale * torch.matmul(q, k.transpose(1, 2))


def get_inputs():
    return [torch.randn(batch, queries, depth), torch.randn(batch, keys, depth)]


def get_init_inputs():
    return [5.0]
