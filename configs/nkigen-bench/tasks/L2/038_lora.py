# nkigrid: category=matmul
import torch
import torch.nn as nn

rows, width, rank, features = 150, 128, 16, 256


class Model(nn.Module):
    """A frozen linear map plus a scaled low-rank correction."""

    def __init__(self, width, rank, features, scale):
        super().__init__()
        self.scale = scale
        self.base = nn.Parameter(width ** -0.5 * torch.randn(width, features))
        self.down = nn.Parameter(width ** -0.5 * torch.randn(width, rank))
        self.up = nn.Parameter(0.4 * torch.randn(rank, features))

    def forward(self, x):
        return torch.matmul(x, self.base) + self.scale * torch.matmul(torch.matmul(x, self.down), self.up)


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return [width, rank, features, 0.5]
