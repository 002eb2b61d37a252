# nkigrid: category=matmul-epilogue
import torch
import torch.nn as nn

rows, width, features = 192, 256, 320


class Model(nn.Module):
    """A linear layer with bfloat16 input and weight, then ReLU in float32."""

    def __init__(self, width, features):
        super().__init__()
        self.weight = nn.Parameter((1.5 * width ** -0.5 * torch.randn(features, width)).bfloat16())
        self.bias = nn.Parameter(0.5 * torch.randn(features))

    def forward(self, x):
        return torch.relu(torch.matmul(x.float(), self.weight.float().t()) + self.bias)


def get_inputs():
    return [torch.randn(rows, width).bfloat16()]


def get_init_inputs():
    return [width, features]
