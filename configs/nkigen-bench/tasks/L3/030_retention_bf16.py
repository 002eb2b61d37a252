# nkigrid: category=attention
import torch
import torch.nn as nn

heads, tokens, depth = 4, 100, 40


class Model(nn.Module):
    """Retention of bfloat16 sequences: products of queries and keys fade with their distance, a rate for each head, and
    every head is normalised."""

    def __init__(self, rates):
        super().__init__()
        self.rates = rates

    def forward(self, q, k, v):
        q, k, v = q.float(), k.float(), v.float()
        position = torch.arange(q.shape[1])
        distance = (position[:, None] - position).clamp(min=0)
        rates = torch.tensor(self.rates, dtype=q.dtype)[:, None, None]
        fading = torch.where(position[:, None] >= position, rates**distance, torch.zeros(()))
        mixed = torch.matmul(torch.matmul(q, k.transpose(1, 2)) * fading, v)
        return mixed * torch.rsqrt(torch.mean(mixed * mixed, dim=-1, keepdim=True) + 1e-6)


def get_inputs():
    return [
        torch.randn(heads, tokens, depth).bfloat16(),
        torch.randn(heads, tokens, depth).bfloat16(),
        torch.randn(heads, tokens, depth).bfloat16(),
    ]


def get_init_inputs():
    return [[0.7, 0.8, 0.9, 0.95]]
