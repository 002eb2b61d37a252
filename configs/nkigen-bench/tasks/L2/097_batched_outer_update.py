# nkigrid: category=elementwise
import torch
import torch.nn as nn

batch, rows, cols = 4, 100, 140


class Model(nn.Module):
    """A decayed matrix plus the outer product of two vectors: one step of a fast-weight memory."""

    def __init__(self, decay):
        super().__init__()
        self.decay = decay

    def forward(self, state, u, v):
        return self.decay * state + u[:, :, None] * v[:, None, :]


def get_inputs():
    return [torch.randn(batch, rows, cols), torch.randn(batch, rows), torch.randn(batch, cols)]


def get_init_inputs():
    return [0.9]
