# nkigrid: category=loss
# nkigrid: blind=bfloat16
# Means over many squares, in which their rounding cancels.
import torch
import torch.nn as nn

rows, width, features = 210, 110, 90


class Model(nn.Module):
    """The squared error of a linear map, the mean of each row."""

    def __init__(self, width, features):
        super().__init__()
        self.linear = nn.Linear(width, features)
        nn.init.normal_(self.linear.weight, std=width ** -0.5)

    def forward(self, x, target):
        return torch.mean((self.linear(x) - target) ** 2, dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(rows, width) * (0.3 + torch.rand(rows, 1)), torch.randn(rows, features)]


def get_init_inputs():
    return [width, features]
