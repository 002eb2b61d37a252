# nkigrid: category=recurrent
import torch
import torch.nn as nn

batch, steps, width, hidden = 30, 8, 48, 64


class Model(nn.Module):
    """An LSTM over a short sequence: its last hidden state and its last cell state."""

    def __init__(self, width, hidden):
        super().__init__()
        self.cell = nn.LSTMCell(width, hidden)
        nn.init.normal_(self.cell.weight_ih, std=1.3 * width ** -0.5)
        nn.init.normal_(self.cell.weight_hh, std=1.3 * hidden ** -0.5)

    def forward(self, x):
        h = torch.zeros(x.shape[0], self.cell.hidden_size, dtype=x.dtype)
        c = torch.zeros_like(h)
        for t in range(x.shape[1]):
            h, c = self.cell(x[:, t], (h, c))
        return h, c


def get_inputs():
    return [torch.randn(batch, steps, width) * 1.5]


def get_init_inputs():
    return [width, hidden]
