import torch
import torch.nn as nn

batch_size = 64
seq, width = 1000, 2048 * 2
heads = 8


class Model(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.mix = nn.Linear(width, width)

    def forward(self, x):
        batch, seq, width = x.shape
        y = self.mix(x).view(batch, seq, self.heads, width // self.heads)
        return torch.softmax(y, dim=-1).reshape(batch, seq, width)


def get_inputs():
    return [torch.rand(batch_size, seq, width)]


def get_init_inputs():
    return [width, heads]
