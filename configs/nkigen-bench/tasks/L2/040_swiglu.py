# nkigrid: category=mlp
import torch
import torch.nn as nn
import torch.nn.functional as F

rows, width, hidden = 140, 96, 200


class Model(nn.Module):
    """A linear map gated by the SiLU of another."""

    def __init__(self, width, hidden):
        super().__init__()
        self.gate = nn.Linear(width, hidden, bias=False)
        self.value = nn.Linear(width, hidden, bias=False)
        nn.init.normal_(self.gate.weight, std=1.5 * width ** -0.5)
        nn.init.normal_(self.value.weight, std=1.2 * width ** -0.5)

    def forward(self, x):
        return F.silu(self.gate(x)) * self.value(x)


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return [width, hidden]
