# nkigrid: category=loss
# nkigrid: domain target=probability
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, rows, cols = 2, 100, 150


class Model(nn.Module):
    """Binary cross entropy of scores with soft targets, the mean of each row."""

    def forward(self, score, target):
        return F.binary_cross_entropy_with_logits(score, target, reduction="none").mean(dim=-1)


def get_inputs():
    return [torch.randn(batch, rows, cols) * (0.5 + 2.0 * torch.rand(batch, rows, 1)), torch.rand(batch, rows, cols)]


def get_init_inputs():
    return []
