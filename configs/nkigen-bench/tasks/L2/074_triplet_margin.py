# nkigrid: category=loss
import torch
import torch.nn as nn

rows, depth = 280, 40


class Model(nn.Module):
    """How much nearer an anchor is to its positive than to its negative, held at a margin."""

    def __init__(self, margin):
        super().__init__()
        self.margin = margin

    def forward(self, anchor, positive, negative):
        near = torch.sqrt(torch.sum((anchor - positive) ** 2, dim=1, keepdim=True) + 1e-6)
        far = torch.sqrt(torch.sum((anchor - negative) ** 2, dim=1, keepdim=True) + 1e-6)
        return torch.clamp(near - far + self.margin, min=0.0)


def get_inputs():
    return [torch.randn(rows, depth), torch.randn(rows, depth), torch.randn(rows, depth)]


def get_init_inputs():
    return [2.0]
