# nkigrid: category=attention
# nkigrid: domain angle=unit
import torch
import torch.nn as nn

batch, heads, tokens, depth = 2, 3, 80, 48


class Model(nn.Module):
    """Causal attention on queries and keys that are turned by their positions."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    @staticmethod
    def turn(x, angle):
        first, second = x.chunk(2, dim=-1)
        cos, sin = torch.cos(3.0 * angle), torch.sin(3.0 * angle)
        return torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1)

    def forward(self, q, k, v, angle):
        q, k = self.turn(q, angle), self.turn(k, angle)
        scores = self.scale * torch.matmul(q, k.transpose(-2, -1))
        later = torch.ones(q.shape[2], q.shape[2]).triu(1) > 0
        return torch.matmul(torch.softmax(scores.masked_fill(later, float("-inf")), dim=-1), v)


def get_inputs():
    q, k, v = (torch.randn(batch, heads, tokens, depth) for _ in range(3))
    return [q, k, v, 2.0 * torch.rand(tokens, depth // 2) - 1.0]


def get_init_inputs():
    return [0.2]
