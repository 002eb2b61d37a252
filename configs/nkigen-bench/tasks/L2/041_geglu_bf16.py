# nkigrid: category=mlp
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, tokens, width, hidden = 2, 80, 128, 160


class Model(nn.Module):
    """GELU-gated linear unit on bfloat16 input and weight."""

    def __init__(self, width, hidden):
        super().__init__()
        self.weight = nn.Parameter((1.3 * width ** -0.5 * torch.randn(2 * hidden, width)).bfloat16())

    def forward(self, x):
        value, gate = torch.matmul(x.float(), self.weight.float().t()).chunk(2, dim=-1)
        return value * F.gelu(gate)


def get_inputs():
    return [torch.randn(batch, tokens, width).bfloat16()]


def get_init_inputs():
    return [width, hidden]
