# nkigrid: category=loss
import torch
import torch.nn as nn

batch, rows, cols = 2, 130, 256


class Model(nn.Module):
    """Huber loss of each row: squares near zero, straight lines beyond."""

    def __init__(self, delta):
        super().__init__()
        self.delta = delta

    def forward(self, prediction, target):
        return nn.functional.huber_loss(prediction, target, delta=self.delta, reduction="none").mean(dim=-1)


def get_inputs():
    return [torch.randn(batch, rows, cols), torch.randn(batch, rows, cols) * (0.1 + 2.0 * torch.rand(batch, rows, 1))]


def get_init_inputs():
    return [0.8]
