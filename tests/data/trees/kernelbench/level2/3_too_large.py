import torch
import torch.nn as nn

N = 1 << 20


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.randn(N, 4096)]


def get_init_inputs():
    return []
