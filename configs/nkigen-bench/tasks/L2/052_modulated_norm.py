# nkigrid: category=normalisation
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, tokens, width = 2, 120, 256


class Model(nn.Module):
    """Layer normalisation, then a scale and a shift of each batch entry's own."""

    def forward(self, x, scale, shift):
        return F.layer_norm(x, x.shape[-1:], eps=1e-6) * (1.0 + scale[:, None]) + shift[:, None]


def get_inputs():
    return [torch.randn(batch, tokens, width) * 2.0, 0.5 * torch.randn(batch, width), torch.randn(batch, width)]


def get_init_inputs():
    return []
