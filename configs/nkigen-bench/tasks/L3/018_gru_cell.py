# nkigrid: category=recurrent
import torch
import torch.nn as nn

rows, width, hidden = 96, 110, 72


class Model(nn.Module):
    """One step of a GRU."""

    def __init__(self, width, hidden):
        super().__init__()
        self.cell = nn.GRUCell(width, hidden)
        nn.init.normal_(self.cell.weight_ih, std=1.3 * width ** -0.5)
        nn.init.normal_(self.cell.weight_hh, std=1.3 * hidden ** -0.5)

    def forward(self, x, h):
        return self.cell(x, h)


def get_inputs():
    return [torch.randn(rows, width), torch.randn(rows, hidden)]


def get_init_inputs():
    return [width, hidden]
