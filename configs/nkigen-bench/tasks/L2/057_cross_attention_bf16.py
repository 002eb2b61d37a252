# nkigrid: category=attention
import torch
import torch.nn as nn

batch, queries, keys, depth = 2, 64, 96, 128


class Model(nn.Module):
    """Attention of bfloat16 queries over another sequence of keys and values."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, q, k, v):
        scores = self.scale * torch.matmul(q.float(), k.float().transpose(1, 2))
        return torch.matmul(torch.softmax(scores, dim=-1), v.float())


def get_inputs():
    return [
        torch.randn(batch, queries, depth).bfloat16(),
        torch.randn(batch, keys, depth).bfloat16(),
        torch.randn(batch, keys, depth).bfloat16(),
    ]


def get_init_inputs():
    return [0.2]
