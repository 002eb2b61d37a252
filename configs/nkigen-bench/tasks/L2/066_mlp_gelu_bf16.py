# nkigrid: category=mlp
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, tokens, width, hidden = 2, 64, 96, 192


class Model(nn.Module):
    """The two layers of a transformer's feed-forward part, with bfloat16 input and weights."""

    def __init__(self, width, hidden):
        super().__init__()
        self.up = nn.Parameter((1.3 * width ** -0.5 * torch.randn(hidden, width)).bfloat16())
        self.down = nn.Parameter((1.5 * hidden ** -0.5 * torch.randn(width, hidden)).bfloat16())

    def forward(self, x):
        return torch.matmul(F.gelu(torch.matmul(x.float(), self.up.float().t())), self.down.float().t())


def get_inputs():
    return [torch.randn(batch, tokens, width).bfloat16()]


def get_init_inputs():
    return [width, hidden]
