# nkigrid: category=matmul-epilogue
# nkigrid: domain a=unit
# nkigrid: domain b=unit
import torch
import torch.nn as nn

batch, m, k, n = 2, 100, 160, 130


class Model(nn.Module):
    """A batched product of bfloat16 operands, scaled and held between two bounds."""

    def forward(self, a, b):
        return torch.clamp(0.25 * torch.matmul(a.float(), b.float()), -1.0, 1.5)


def get_inputs():
    return [(2.0 * torch.rand(batch, m, k) - 1.0).bfloat16(), (2.0 * torch.rand(batch, k, n) - 1.0).bfloat16()]


def get_init_inputs():
    return []
