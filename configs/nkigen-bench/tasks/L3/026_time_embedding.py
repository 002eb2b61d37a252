# nkigrid: category=diffusion
# nkigrid: domain moment=unit
import torch
import torch.nn as nn
import torch.nn.functional as F

rows, pairs, hidden, width = 150, 24, 100, 80


class Model(nn.Module):
    """Sines and cosines of a moment at many frequencies, then two linear layers with SiLU."""

    def __init__(self, pairs, hidden, width):
        super().__init__()
        self.frequencies = [3.0 * 0.8 ** i for i in range(pairs)]
        self.first = nn.Linear(2 * pairs, hidden)
        self.second = nn.Linear(hidden, width)
        nn.init.normal_(self.first.weight, std=1.8 * (2 * pairs) ** -0.5)
        nn.init.normal_(self.second.weight, std=1.8 * hidden ** -0.5)

    def forward(self, moment):
        turns = moment * torch.tensor(self.frequencies)
        waves = torch.cat((torch.sin(turns), torch.cos(turns)), dim=1)
        return self.second(F.silu(self.first(waves)))


def get_inputs():
    return [2.0 * torch.rand(rows, 1) - 1.0]


def get_init_inputs():
    return [pairs, hidden, width]
