# nkigrid: category=recurrent
import torch
import torch.nn as nn

batch, steps, width, hidden = 24, 12, 40, 56


class Model(nn.Module):
    """A GRU over a short sequence: the hidden states of all steps."""

    def __init__(self, width, hidden):
        super().__init__()
        self.cell = nn.GRUCell(width, hidden)
        nn.init.normal_(self.cell.weight_ih, std=1.3 * width ** -0.5)
        nn.init.normal_(self.cell.weight_hh, std=1.3 * hidden ** -0.5)

    def forward(self, x):
        state = torch.zeros(x.shape[0], self.cell.hidden_size, dtype=x.dtype)
        states = []
        for t in range(x.shape[1]):
            state = self.cell(x[:, t], state)
            states.append(state)
        return torch.stack(states, dim=1)


def get_inputs():
    return [torch.randn(batch, steps, width)]


def get_init_inputs():
    return [width, hidden]
