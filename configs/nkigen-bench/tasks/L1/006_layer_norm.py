# nkigrid: category=normalisation
import torch
import torch.nn as nn

rows, width = 300, 768


class Model(nn.Module):
    """Layer normalisation with a weight and a bias."""

    def __init__(self, width, eps):
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=eps)
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.3)
        nn.init.normal_(self.norm.bias, std=0.3)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(rows, width) * 2.0 + 0.5]


def get_init_inputs():
    return [width, 1e-5]
