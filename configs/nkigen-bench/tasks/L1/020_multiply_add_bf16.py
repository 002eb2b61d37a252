# nkigrid: category=elementwise
import torch
import torch.nn as nn

batch, rows, cols = 2, 200, 320


class Model(nn.Module):
    """x * y + z from bfloat16 inputs, in float32."""

    def forward(self, x, y, z):
        return x.float() * y.float() + z.float()


def get_inputs():
    return [
        torch.randn(batch, rows, cols).bfloat16(),
        torch.randn(batch, rows, cols).bfloat16(),
        torch.randn(batch, rows, cols).bfloat16(),
    ]


def get_init_inputs():
    return []
