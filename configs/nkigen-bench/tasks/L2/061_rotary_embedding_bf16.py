# nkigrid: category=attention
# nkigrid: domain angle=unit
import torch
import torch.nn as nn

batch, heads, tokens, depth = 2, 3, 100, 64


class Model(nn.Module):
    """Pairs of bfloat16 features turned by an angle that depends on the position."""

    def forward(self, x, angle):
        first, second = x.float().chunk(2, dim=-1)
        turn = 3.0 * angle
        cos, sin = torch.cos(turn), torch.sin(turn)
        return torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1)


def get_inputs():
    return [torch.randn(batch, heads, tokens, depth).bfloat16(), 2.0 * torch.rand(tokens, depth // 2) - 1.0]


def get_init_inputs():
    return []
