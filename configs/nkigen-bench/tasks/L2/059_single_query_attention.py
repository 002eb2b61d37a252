# nkigrid: category=attention
import torch
import torch.nn as nn

heads, keys, depth = 24, 200, 64


class Model(nn.Module):
    """One new query of each head over all its cached keys and values."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, q, k, v):
        scores = self.scale * torch.einsum("hd,hkd->hk", q, k)
        return torch.einsum("hk,hkd->hd", torch.softmax(scores, dim=-1), v)


def get_inputs():
    return [torch.randn(heads, depth), torch.randn(heads, keys, depth), torch.randn(heads, keys, depth)]


def get_init_inputs():
    return [0.25]
