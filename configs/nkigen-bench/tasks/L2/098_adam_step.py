# nkigrid: category=elementwise
# nkigrid: domain second=positive
import torch
import torch.nn as nn

rows, cols = 260, 300


class Model(nn.Module):
    """One step of Adam without bias correction: the new parameters and both moments."""

    def __init__(self, rate, keep, keep_square, eps):
        super().__init__()
        self.rate, self.keep, self.keep_square, self.eps = rate, keep, keep_square, eps

    def forward(self, parameter, gradient, first, second):
        first = self.keep * first + (1.0 - self.keep) * gradient
        second = self.keep_square * second + (1.0 - self.keep_square) * gradient * gradient
        return parameter - self.rate * first / (torch.sqrt(second) + self.eps), first, second


def get_inputs():
    return [torch.randn(rows, cols), torch.randn(rows, cols), torch.randn(rows, cols), torch.rand(rows, cols) + 0.1]


def get_init_inputs():
    return [0.05, 0.9, 0.95, 1e-3]
