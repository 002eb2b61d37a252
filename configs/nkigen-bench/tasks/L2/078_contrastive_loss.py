# nkigrid: category=loss
import torch
import torch.nn as nn
import torch.nn.functional as F

rows, depth = 120, 64


class Model(nn.Module):
    """Each row should be most like the row of the same number: cross entropy of scaled cosines."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x, y):
        x, y = F.normalize(x, dim=1), F.normalize(y, dim=1)
        scores = self.scale * torch.matmul(x, y.t())
        return torch.logsumexp(scores, dim=1, keepdim=True) - torch.diagonal(scores).unsqueeze(1)


def get_inputs():
    return [torch.randn(rows, depth), torch.randn(rows, depth)]


def get_init_inputs():
    return [8.0]
