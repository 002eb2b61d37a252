# nkigrid: category=transformer
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, tokens, width, heads, hidden = 1, 96, 96, 3, 192


class Model(nn.Module):
    """A pre-norm decoder layer with root-mean-square norms, causal attention and a gated feed-forward part."""

    def __init__(self, width, heads, hidden, eps):
        super().__init__()
        self.heads, self.eps = heads, eps
        self.norm_1 = nn.Parameter(1.0 + 0.2 * torch.randn(width))
        self.norm_2 = nn.Parameter(1.0 + 0.2 * torch.randn(width))
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.project = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)
        for layer in (self.query, self.key, self.value, self.project, self.gate, self.up, self.down):
            nn.init.normal_(layer.weight, std=1.3 * layer.in_features ** -0.5)

    def norm(self, x, weight):
        return x * torch.rsqrt(torch.mean(x * x, dim=-1, keepdim=True) + self.eps) * weight

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x):
        y = self.norm(x, self.norm_1)
        q, k, v = self.split(self.query(y)), self.split(self.key(y)), self.split(self.value(y))
        scores = torch.matmul(q, k.transpose(-2, -1)) * q.shape[-1] ** -0.5
        later = torch.ones(x.shape[1], x.shape[1]).triu(1) > 0
        mixed = torch.matmul(torch.softmax(scores.masked_fill(later, float("-inf")), dim=-1), v)
        x = x + self.project(mixed.transpose(1, 2).reshape(x.shape))
        y = self.norm(x, self.norm_2)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def get_inputs():
    return [torch.randn(batch, tokens, width)]


def get_init_inputs():
    return [width, heads, hidden, 1e-6]
