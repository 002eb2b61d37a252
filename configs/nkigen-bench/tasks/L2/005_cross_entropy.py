# nkigrid: category=loss
# nkigrid: domain target=index 1000
import torch
import torch.nn as nn
import torch.nn.functional as F

rows, classes = 260, 1000


class Model(nn.Module):
    """Cross entropy of each row with its own label, as a column."""

    def forward(self, logits, target):
        return F.cross_entropy(logits, target, reduction="none").unsqueeze(1)


def get_inputs():
    return [torch.randn(rows, classes) * 2.0, torch.randint(0, classes, (rows,))]


def get_init_inputs():
    return []
