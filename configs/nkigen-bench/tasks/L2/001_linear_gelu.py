# nkigrid: category=matmul-epilogue
import torch
import torch.nn as nn
import torch.nn.functional as F

rows, wide_in, wide_out = 200, 384, 512


class Model(nn.Module):
    """A linear layer with bias, then the exact GELU."""

    def __init__(self, wide_in, wide_out):
        super().__init__()
        self.fc = nn.Linear(wide_in, wide_out)
        nn.init.normal_(self.fc.weight, std=wide_in ** -0.5)

    def forward(self, x):
        return F.gelu(self.fc(x))


def get_inputs():
    return [torch.randn(rows, wide_in)]


def get_init_inputs():
    return [wide_in, wide_out]
