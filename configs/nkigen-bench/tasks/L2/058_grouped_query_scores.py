# nkigrid: category=attention
import torch
import torch.nn as nn

batch, heads, groups, tokens, depth = 1, 6, 2, 90, 64


class Model(nn.Module):
    """Scores in which three query heads share one key head."""

    def __init__(self, scale, share):
        super().__init__()
        self.scale, self.share = scale, share

    def forward(self, q, k):
        return self.scale * torch.matmul(q, k.repeat_interleave(self.share, dim=1).transpose(-2, -1))


def get_inputs():
    return [torch.randn(batch, heads, tokens, depth), torch.randn(batch, groups, tokens, depth)]


def get_init_inputs():
    return [0.125, heads // groups]
