# nkigrid: category=attention
import torch
import torch.nn as nn

heads, tokens, depth, reach = 4, 120, 48, 12


class Model(nn.Module):
    """Attention in which a query sees the keys at most twelve positions away."""

    def __init__(self, scale, reach):
        super().__init__()
        self.scale, self.reach = scale, reach

    def forward(self, q, k, v):
        scores = self.scale * torch.matmul(q, k.transpose(1, 2))
        position = torch.arange(q.shape[1])
        far = (position[:, None] - position).abs() > self.reach
        return torch.matmul(torch.softmax(scores.masked_fill(far, float("-inf")), dim=-1), v)


def get_inputs():
    return [torch.randn(heads, tokens, depth), torch.randn(heads, tokens, depth), torch.randn(heads, tokens, depth)]


def get_init_inputs():
    return [0.3, reach]
