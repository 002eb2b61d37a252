# nkigrid: category=recommender
import torch
import torch.nn as nn

rows, width, layers = 210, 100, 3


class Model(nn.Module):
    """Feature crosses: each layer multiplies the first input by a linear map of the last state and adds the state."""

    def __init__(self, width, layers):
        super().__init__()
        self.weights = nn.Parameter(0.6 * width ** -0.5 * torch.randn(layers, width, width))
        self.biases = nn.Parameter(0.3 * torch.randn(layers, width))

    def forward(self, x):
        state = x
        for weight, bias in zip(self.weights, self.biases):
            state = x * (torch.matmul(state, weight) + bias) + state
        return state


def get_inputs():
    return [torch.randn(rows, width) * 0.7]


def get_init_inputs():
    return [width, layers]
