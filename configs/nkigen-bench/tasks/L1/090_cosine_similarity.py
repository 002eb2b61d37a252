# nkigrid: category=loss
import torch
import torch.nn as nn

rows, cols = 270, 48


class Model(nn.Module):
    """The cosine of the angle between the rows of two matrices."""

    def forward(self, x, y):
        return nn.functional.cosine_similarity(x, y, dim=1).unsqueeze(1)


def get_inputs():
    return [torch.randn(rows, cols), torch.randn(rows, cols) + torch.randn(rows, 1)]


def get_init_inputs():
    return []
