# nkigrid: category=convolution
import torch
import torch.nn as nn

batch, channels, squeezed, features, height, width = 2, 90, 20, 48, 13, 16


class Model(nn.Module):
    """A 1 x 1 convolution to few channels, then 1 x 1 and 3 x 3 convolutions of these side by side, all with ReLU."""

    def __init__(self, channels, squeezed, features):
        super().__init__()
        self.squeeze = nn.Conv2d(channels, squeezed, 1)
        self.one = nn.Conv2d(squeezed, features, 1)
        self.three = nn.Conv2d(squeezed, features, 3, padding=1)
        for conv in (self.squeeze, self.one, self.three):
            nn.init.normal_(conv.weight, std=1.4 * conv.weight[0].numel() ** -0.5)

    def forward(self, x):
        x = torch.relu(self.squeeze(x))
        return torch.relu(torch.cat((self.one(x), self.three(x)), dim=1))


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, squeezed, features]
