# nkigrid: category=normalisation
import torch
import torch.nn as nn

batch, channels, height, width = 2, 70, 18, 22


class Model(nn.Module):
    """Each channel of each image brought to mean zero and variance one."""

    def __init__(self, eps):
        super().__init__()
        self.eps = eps

    def forward(self, x):
        return nn.functional.instance_norm(x, eps=self.eps)


def get_inputs():
    return [torch.randn(batch, channels, height, width) * 2.0 + 1.0]


def get_init_inputs():
    return [1e-5]
