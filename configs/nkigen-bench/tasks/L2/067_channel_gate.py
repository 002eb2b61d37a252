# nkigrid: category=residual
import torch
import torch.nn as nn

batch, channels, inner, height, width = 3, 96, 12, 13, 15


class Model(nn.Module):
    """Squeeze and excite: the means of an image decide how much of each channel passes."""

    def __init__(self, channels, inner):
        super().__init__()
        self.down = nn.Linear(channels, inner)
        self.up = nn.Linear(inner, channels)
        nn.init.normal_(self.down.weight, std=4.0 * channels ** -0.5)
        nn.init.normal_(self.up.weight, std=2.0 * inner ** -0.5)

    def forward(self, x):
        squeezed = x.mean(dim=(2, 3))
        gate = torch.sigmoid(self.up(torch.relu(self.down(squeezed))))
        return x * gate[:, :, None, None]


def get_inputs():
    return [torch.randn(batch, channels, height, width) + torch.randn(batch, channels, 1, 1)]


def get_init_inputs():
    return [channels, inner]
