# nkigrid: category=attention
import torch
import torch.nn as nn

batch, queries, keys, width, heads = 2, 48, 77, 96, 3


class Model(nn.Module):
    """Normalised tokens of one sequence attend to another; projection and skip."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width, elementwise_affine=False)
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.project = nn.Linear(width, width)
        for layer in (self.query, self.key, self.value, self.project):
            nn.init.normal_(layer.weight, std=1.4 * width ** -0.5)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x, context):
        q, k, v = self.split(self.query(self.norm(x))), self.split(self.key(context)), self.split(self.value(context))
        weights = torch.softmax(torch.matmul(q, k.transpose(-2, -1)) * q.shape[-1] ** -0.5, dim=-1)
        return x + self.project(torch.matmul(weights, v).transpose(1, 2).reshape(x.shape))


def get_inputs():
    return [torch.randn(batch, queries, width), torch.randn(batch, keys, width)]


def get_init_inputs():
    return [width, heads]
