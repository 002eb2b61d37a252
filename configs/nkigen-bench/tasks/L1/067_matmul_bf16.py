# nkigrid: category=matmul
import torch
import torch.nn as nn

m, k, n = 256, 256, 512


class Model(nn.Module):
    """Product of two bfloat16 matrices, summed in float32."""

    def forward(self, a, b):
        return torch.matmul(a.float(), b.float())


def get_inputs():
    return [torch.randn(m, k).bfloat16(), (torch.randn(k, n) * 0.1).bfloat16()]


def get_init_inputs():
    return []
