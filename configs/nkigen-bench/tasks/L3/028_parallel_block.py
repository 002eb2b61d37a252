# nkigrid: category=transformer
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, tokens, width, heads, hidden = 1, 80, 80, 2, 120


class Model(nn.Module):
    """A transformer layer whose attention and feed-forward parts read the same normalised input, side by side."""

    def __init__(self, width, heads, hidden):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.project = nn.Linear(width, width, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.2)
        nn.init.normal_(self.norm.bias, std=0.2)
        for layer in (self.query, self.key, self.value, self.project, self.up, self.down):
            nn.init.normal_(layer.weight, std=1.4 * layer.in_features ** -0.5)

    def forward(self, x):
        y = self.norm(x)
        split = lambda z: z.view(z.shape[0], z.shape[1], self.heads, -1).transpose(1, 2)
        q, k, v = split(self.query(y)), split(self.key(y)), split(self.value(y))
        weights = torch.softmax(torch.matmul(q, k.transpose(-2, -1)) * q.shape[-1] ** -0.5, dim=-1)
        mixed = torch.matmul(weights, v).transpose(1, 2).reshape(x.shape)
        return x + self.project(mixed) + self.down(F.gelu(self.up(y)))


def get_inputs():
    return [torch.randn(batch, tokens, width)]


def get_init_inputs():
    return [width, heads, hidden]
