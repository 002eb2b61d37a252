# nkigrid: category=matmul-epilogue
import torch
import torch.nn as nn

batch, channels, height, width, patch, features = 2, 3, 32, 40, 8, 72


class Model(nn.Module):
    """Square patches of an image, each mapped to a vector."""

    def __init__(self, channels, patch, features):
        super().__init__()
        self.patch = patch
        self.project = nn.Linear(channels * patch * patch, features)
        nn.init.normal_(self.project.weight, std=(channels * patch * patch) ** -0.5)

    def forward(self, x):
        b, c, h, w = x.shape
        p = self.patch
        patches = x.view(b, c, h // p, p, w // p, p).permute(0, 2, 4, 1, 3, 5).reshape(b, -1, c * p * p)
        return self.project(patches)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, patch, features]
