# nkigrid: category=convolution
import torch
import torch.nn as nn

batch, channels, height, width = 2, 80, 12, 15


class Model(nn.Module):
    """Half the channels pass, half go through 1 x 1, depthwise 3 x 3 and 1 x 1 convolutions; then the halves are
    interleaved."""

    def __init__(self, half):
        super().__init__()
        self.first = nn.Conv2d(half, half, 1)
        self.depth = nn.Conv2d(half, half, 3, padding=1, groups=half, bias=False)
        self.last = nn.Conv2d(half, half, 1)
        nn.init.normal_(self.first.weight, std=1.4 * half ** -0.5)
        nn.init.normal_(self.depth.weight, std=0.4)
        nn.init.normal_(self.last.weight, std=1.4 * half ** -0.5)

    def forward(self, x):
        left, right = x.chunk(2, dim=1)
        right = torch.relu(self.last(self.depth(torch.relu(self.first(right)))))
        b, c, h, w = x.shape
        return torch.stack((left, right), dim=2).reshape(b, c, h, w)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels // 2]
