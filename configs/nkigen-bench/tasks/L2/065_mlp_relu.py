# nkigrid: category=mlp
import torch
import torch.nn as nn

rows, width, hidden, features = 150, 100, 256, 60


class Model(nn.Module):
    """Two linear layers with ReLU between them."""

    def __init__(self, width, hidden, features):
        super().__init__()
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, features)
        nn.init.normal_(self.up.weight, std=1.4 * width ** -0.5)
        nn.init.normal_(self.down.weight, std=1.4 * hidden ** -0.5)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return [width, hidden, features]
