# nkigrid: category=mlp
import torch
import torch.nn as nn
import torch.nn.functional as F

rows, width = 160, 112


class Model(nn.Module):
    """Two residual layers with bfloat16 input and weights: x + silu(x W), twice."""

    def __init__(self, width):
        super().__init__()
        self.first = nn.Parameter((width ** -0.5 * torch.randn(width, width)).bfloat16())
        self.second = nn.Parameter((width ** -0.5 * torch.randn(width, width)).bfloat16())

    def forward(self, x):
        x = x.float()
        x = x + F.silu(torch.matmul(x, self.first.float()))
        return x + F.silu(torch.matmul(x, self.second.float()))


def get_inputs():
    return [torch.randn(rows, width).bfloat16()]


def get_init_inputs():
    return [width]
