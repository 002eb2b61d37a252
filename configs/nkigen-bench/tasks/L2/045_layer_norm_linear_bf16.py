# nkigrid: category=normalisation
import torch
import torch.nn as nn
import torch.nn.functional as F

rows, width, features = 220, 120, 100


class Model(nn.Module):
    """Layer normalisation of bfloat16 rows, then a float32 linear layer."""

    def __init__(self, width, features, eps):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(1.3 * width ** -0.5 * torch.randn(features, width))
        self.bias = nn.Parameter(0.5 * torch.randn(features))

    def forward(self, x):
        normed = F.layer_norm(x.float(), x.shape[-1:], eps=self.eps)
        return F.linear(normed, self.weight, self.bias)


def get_inputs():
    return [(torch.randn(rows, width) * 2.0 + 0.5).bfloat16()]


def get_init_inputs():
    return [width, features, 1e-5]
