# nkigrid: category=quantisation
# nkigrid: domain code=index 256
# nkigrid: domain scale=positive
import torch
import torch.nn as nn

rows, width, features = 128, 160, 200


class Model(nn.Module):
    """A product with a weight kept as whole numbers 0..255, a scale and the zero point 128."""

    def forward(self, x, code, scale):
        return torch.matmul(x, (code - 128).to(x.dtype)) * scale


def get_inputs():
    return [torch.randn(rows, width), torch.randint(0, 256, (width, features)), (0.5 + torch.rand(features)) * 1e-3]


def get_init_inputs():
    return []
