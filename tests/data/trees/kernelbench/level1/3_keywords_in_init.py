import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width, **options):
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=options["eps"])

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(6, 10)]


def get_init_inputs():
    return [10, {"eps": 1e-3}]
