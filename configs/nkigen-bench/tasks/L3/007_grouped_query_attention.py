# nkigrid: category=attention
import torch
import torch.nn as nn

batch, tokens, width, heads, groups = 2, 64, 120, 6, 2


class Model(nn.Module):
    """Self-attention whose six query heads share two heads of keys and values."""

    def __init__(self, width, heads, groups):
        super().__init__()
        self.heads, self.groups = heads, groups
        depth = width // heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, groups * depth, bias=False)
        self.value = nn.Linear(width, groups * depth, bias=False)
        self.project = nn.Linear(width, width, bias=False)
        for layer in (self.query, self.key, self.value, self.project):
            nn.init.normal_(layer.weight, std=1.5 * width ** -0.5)

    def forward(self, x):
        b, t, w = x.shape
        q = self.query(x).view(b, t, self.heads, -1).transpose(1, 2)
        k = self.key(x).view(b, t, self.groups, -1).transpose(1, 2)
        v = self.value(x).view(b, t, self.groups, -1).transpose(1, 2)
        share = self.heads // self.groups
        k, v = k.repeat_interleave(share, dim=1), v.repeat_interleave(share, dim=1)
        weights = torch.softmax(torch.matmul(q, k.transpose(-2, -1)) * q.shape[-1] ** -0.5, dim=-1)
        return self.project(torch.matmul(weights, v).transpose(1, 2).reshape(b, t, w))


def get_inputs():
    return [torch.randn(batch, tokens, width)]


def get_init_inputs():
    return [width, heads, groups]
