# nkigrid: category=loss
# nkigrid: domain target=index 150
import torch
import torch.nn as nn
import torch.nn.functional as F

rows, width, classes = 160, 80, 150


class Model(nn.Module):
    """Class scores of each row and their cross entropy with the row's label."""

    def __init__(self, width, classes):
        super().__init__()
        self.linear = nn.Linear(width, classes, bias=False)
        nn.init.normal_(self.linear.weight, std=2.0 * width ** -0.5)

    def forward(self, x, target):
        return F.cross_entropy(self.linear(x), target, reduction="none").unsqueeze(1)


def get_inputs():
    return [torch.randn(rows, width), torch.randint(0, classes, (rows,))]


def get_init_inputs():
    return [width, classes]
