# nkigrid: category=attention
import torch
import torch.nn as nn

batch, tokens, width, heads = 2, 96, 128, 4


class Model(nn.Module):
    """Multi-head self-attention with its four projections and the residual."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.project = nn.Linear(width, width)
        for layer in (self.query, self.key, self.value, self.project):
            nn.init.normal_(layer.weight, std=1.5 * width ** -0.5)

    def split(self, x):
        batch, tokens, width = x.shape
        return x.view(batch, tokens, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = torch.matmul(q, k.transpose(-2, -1)) * (q.shape[-1] ** -0.5)
        mixed = torch.matmul(torch.softmax(scores, dim=-1), v)
        mixed = mixed.transpose(1, 2).reshape(x.shape)
        return x + self.project(mixed)


def get_inputs():
    return [torch.randn(batch, tokens, width)]


def get_init_inputs():
    return [width, heads]
