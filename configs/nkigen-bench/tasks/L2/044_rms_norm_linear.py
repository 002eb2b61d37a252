# nkigrid: category=normalisation
import torch
import torch.nn as nn

batch, tokens, width, features = 2, 100, 128, 192


class Model(nn.Module):
    """Root-mean-square normalisation, then a linear map without bias."""

    def __init__(self, width, features, eps):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(1.0 + 0.3 * torch.randn(width))
        self.linear = nn.Linear(width, features, bias=False)
        nn.init.normal_(self.linear.weight, std=1.2 * width ** -0.5)

    def forward(self, x):
        scale = torch.rsqrt(torch.mean(x * x, dim=-1, keepdim=True) + self.eps)
        return self.linear(x * scale * self.weight)


def get_inputs():
    return [torch.randn(batch, tokens, width) * 1.5]


def get_init_inputs():
    return [width, features, 1e-6]
