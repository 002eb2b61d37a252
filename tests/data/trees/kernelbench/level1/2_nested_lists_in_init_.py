import torch
import torch.nn as nn

widths = [[5, 7], [9]]


class Model(nn.Module):
    def __init__(self, widths, activation):
        super().__init__()
        sizes = [size for group in widths for size in group]
        self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])])
        self.activation = getattr(torch, activation)

    def forward(self, x):
        for layer in self.layers:
            x = self.activation(layer(x))
        return x


def get_inputs():
    return [torch.randn(3, 5)]


def get_init_inputs():
    return [widths, "tanh"]
