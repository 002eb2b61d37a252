# nkigrid: category=mlp
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, tokens, width, hidden = 2, 100, 192, 768


class Model(nn.Module):
    """The feed-forward half of a pre-norm transformer layer."""

    def __init__(self, width, hidden):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.2)
        nn.init.normal_(self.norm.bias, std=0.2)
        nn.init.normal_(self.up.weight, std=width ** -0.5)
        nn.init.normal_(self.down.weight, std=1.5 * hidden ** -0.5)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


def get_inputs():
    return [torch.randn(batch, tokens, width)]


def get_init_inputs():
    return [width, hidden]
