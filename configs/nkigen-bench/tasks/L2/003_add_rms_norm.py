# nkigrid: category=normalisation
import torch
import torch.nn as nn

rows, width = 300, 640


class Model(nn.Module):
    """Adds the residual stream and normalises it by its root mean square; gives both back."""

    def __init__(self, width, eps):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(1.0 + 0.3 * torch.randn(width))

    def forward(self, x, residual):
        total = x + residual
        scale = torch.rsqrt(torch.mean(total * total, dim=-1, keepdim=True) + self.eps)
        return total * scale * self.weight, total


def get_inputs():
    return [torch.randn(rows, width), torch.randn(rows, width)]


def get_init_inputs():
    return [width, 1e-6]
