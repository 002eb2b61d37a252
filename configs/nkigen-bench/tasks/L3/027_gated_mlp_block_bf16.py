# nkigrid: category=mlp
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, tokens, width, hidden = 2, 64, 128, 256


class Model(nn.Module):
    """Root-mean-square norm and a SiLU-gated feed-forward part with bfloat16 input and weights, and the skip."""

    def __init__(self, width, hidden, eps):
        super().__init__()
        self.eps = eps
        self.gate = nn.Parameter((1.3 * width ** -0.5 * torch.randn(hidden, width)).bfloat16())
        self.up = nn.Parameter((1.3 * width ** -0.5 * torch.randn(hidden, width)).bfloat16())
        self.down = nn.Parameter((1.3 * hidden ** -0.5 * torch.randn(width, hidden)).bfloat16())

    def forward(self, x):
        x = x.float()
        y = x * torch.rsqrt(torch.mean(x * x, dim=-1, keepdim=True) + self.eps)
        gated = F.silu(torch.matmul(y, self.gate.float().t())) * torch.matmul(y, self.up.float().t())
        return x + torch.matmul(gated, self.down.float().t())


def get_inputs():
    return [torch.randn(batch, tokens, width).bfloat16()]


def get_init_inputs():
    return [width, hidden, 1e-6]
