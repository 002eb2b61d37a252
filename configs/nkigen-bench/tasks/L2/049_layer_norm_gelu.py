# nkigrid: category=normalisation
import torch
import torch.nn as nn
import torch.nn.functional as F

rows, width = 260, 350


class Model(nn.Module):
    """Layer normalisation without weights, then GELU."""

    def forward(self, x):
        return F.gelu(F.layer_norm(x, x.shape[-1:]) * 1.5)


def get_inputs():
    return [torch.randn(rows, width) * 3.0 - 1.0]


def get_init_inputs():
    return []
