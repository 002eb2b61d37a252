# nkigrid: category=attention
import torch
import torch.nn as nn

heads, tokens, depth = 4, 150, 64


class Model(nn.Module):
    """Dot-product attention, one matrix a head."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, q, k, v):
        scores = torch.matmul(q, k.transpose(-2, -1)) * self.scale
        return torch.matmul(torch.softmax(scores, dim=-1), v)


def get_inputs():
    return [torch.randn(heads, tokens, depth) for _ in range(3)]


def get_init_inputs():
    return [0.25]
