# nkigrid: category=convolution
import torch
import torch.nn as nn

batch, channels, inner, squeezed, height, width = 2, 96, 32, 8, 10, 13


class Model(nn.Module):
    """A bottleneck of three convolutions, the middle one 3 x 3, whose result is gated by its own means before the
    skip."""

    def __init__(self, channels, inner, squeezed):
        super().__init__()
        self.reduce = nn.Conv2d(channels, inner, 1, bias=False)
        self.mix = nn.Conv2d(inner, inner, 3, padding=1, bias=False)
        self.expand = nn.Conv2d(inner, channels, 1, bias=False)
        self.down = nn.Linear(channels, squeezed)
        self.up = nn.Linear(squeezed, channels)
        nn.init.normal_(self.reduce.weight, std=1.4 * channels ** -0.5)
        nn.init.normal_(self.mix.weight, std=1.4 * (9 * inner) ** -0.5)
        nn.init.normal_(self.expand.weight, std=2.0 * inner ** -0.5)
        nn.init.normal_(self.down.weight, std=2.0 * channels ** -0.5)
        nn.init.normal_(self.up.weight, std=2.0 * squeezed ** -0.5)

    def forward(self, x):
        y = self.expand(torch.relu(self.mix(torch.relu(self.reduce(x)))))
        gate = torch.sigmoid(self.up(torch.relu(self.down(y.mean(dim=(2, 3))))))
        return torch.relu(x + y * gate[:, :, None, None])


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, inner, squeezed]
