# nkigrid: category=convolution
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, tokens, width, taps = 2, 90, 80, 7


class Model(nn.Module):
    """The convolution half of a speech encoder layer on bfloat16 input: norm, gated linear map, depthwise convolution
    over time, SiLU, linear map."""

    def __init__(self, width, taps):
        super().__init__()
        self.grow = nn.Linear(width, 2 * width, bias=False)
        self.depth = nn.Conv1d(width, width, taps, padding=taps // 2, groups=width, bias=False)
        self.shrink = nn.Linear(width, width, bias=False)
        nn.init.normal_(self.grow.weight, std=1.4 * width ** -0.5)
        nn.init.normal_(self.depth.weight, std=0.6)
        nn.init.normal_(self.shrink.weight, std=1.6 * width ** -0.5)

    def forward(self, x):
        x = x.float()
        y = F.glu(self.grow(F.layer_norm(x, x.shape[-1:])), dim=-1)
        y = F.silu(self.depth(y.transpose(1, 2))).transpose(1, 2)
        return x + self.shrink(y)


def get_inputs():
    return [torch.randn(batch, tokens, width).bfloat16()]


def get_init_inputs():
    return [width, taps]
