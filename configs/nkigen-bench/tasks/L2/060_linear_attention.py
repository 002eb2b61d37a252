# nkigrid: category=attention
import torch
import torch.nn as nn
import torch.nn.functional as F

heads, tokens, depth, width = 4, 190, 32, 48


class Model(nn.Module):
    """Attention with a positive feature map in place of the softmax: keys and values are summed first."""

    def forward(self, q, k, v):
        q, k = F.elu(q) + 1.0, F.elu(k) + 1.0
        state = torch.matmul(k.transpose(1, 2), v)
        total = k.sum(dim=1, keepdim=True)
        return torch.matmul(q, state) / torch.sum(q * total, dim=-1, keepdim=True)


def get_inputs():
    return [
        torch.randn(heads, tokens, depth),
        torch.randn(heads, tokens, depth),
        torch.randn(heads, tokens, width) * 3.0,
    ]


def get_init_inputs():
    return []
