# nkigrid: category=loss
# nkigrid: domain target=index 90
import torch
import torch.nn as nn
import torch.nn.functional as F

rows, classes = 300, 90


class Model(nn.Module):
    """Cross entropy with a part of the label spread over all classes."""

    def __init__(self, smoothing):
        super().__init__()
        self.smoothing = smoothing

    def forward(self, logits, target):
        return F.cross_entropy(logits, target, reduction="none", label_smoothing=self.smoothing).unsqueeze(1)


def get_inputs():
    return [torch.randn(rows, classes) * 2.0, torch.randint(0, classes, (rows,))]


def get_init_inputs():
    return [0.2]
