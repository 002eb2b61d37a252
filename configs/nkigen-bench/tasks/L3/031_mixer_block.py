# nkigrid: category=vision
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, patches, width, inner, hidden = 2, 60, 96, 80, 120


class Model(nn.Module):
    """An MLP over the patches, then one over the features, each behind a layer norm and beside a skip."""

    def __init__(self, patches, width, inner, hidden):
        super().__init__()
        self.norm_1 = nn.LayerNorm(width, elementwise_affine=False)
        self.norm_2 = nn.LayerNorm(width, elementwise_affine=False)
        self.token_up = nn.Linear(patches, inner, bias=False)
        self.token_down = nn.Linear(inner, patches, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)
        for layer in (self.token_up, self.token_down, self.up, self.down):
            nn.init.normal_(layer.weight, std=1.3 * layer.in_features ** -0.5)

    def forward(self, x):
        y = self.norm_1(x).transpose(1, 2)
        x = x + self.token_down(F.gelu(self.token_up(y))).transpose(1, 2)
        return x + self.down(F.gelu(self.up(self.norm_2(x))))


def get_inputs():
    return [torch.randn(batch, patches, width)]


def get_init_inputs():
    return [patches, width, inner, hidden]
