# nkigrid: category=attention
import torch
import torch.nn as nn

batch, heads, queries, keys, depth = 2, 3, 70, 110, 48


class Model(nn.Module):
    """Scaled dot products of bfloat16 queries and keys plus a bias for each pair of positions."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, q, k, bias):
        return self.scale * torch.matmul(q.float(), k.float().transpose(-2, -1)) + bias


def get_inputs():
    return [
        torch.randn(batch, heads, queries, depth).bfloat16(),
        torch.randn(batch, heads, keys, depth).bfloat16(),
        torch.randn(queries, keys),
    ]


def get_init_inputs():
    return [0.2]
