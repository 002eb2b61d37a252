# nkigrid: category=vision
import torch
import torch.nn as nn

batch, channels, height, width, patch, features = 2, 3, 24, 32, 4, 64


class Model(nn.Module):
    """Patches of an image mapped to vectors, a class vector before them, positions added, and a layer norm."""

    def __init__(self, channels, patch, features, count):
        super().__init__()
        self.first = nn.Parameter(torch.randn(1, features))
        self.position = nn.Parameter(0.5 * torch.randn(count + 1, features))
        self.patches = nn.Conv2d(channels, features, patch, stride=patch)
        self.norm = nn.LayerNorm(features)
        nn.init.normal_(self.patches.weight, std=1.2 * (channels * patch * patch) ** -0.5)
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.2)
        nn.init.normal_(self.norm.bias, std=0.2)

    def forward(self, x):
        vectors = self.patches(x).flatten(2).transpose(1, 2)
        first = self.first.expand(x.shape[0], 1, -1)
        return self.norm(torch.cat((first, vectors), dim=1) + self.position)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, patch, features, (height // patch) * (width // patch)]
