# nkigrid: category=scan
import torch
import torch.nn as nn

batch, channels, length = 2, 96, 150


class Model(nn.Module):
    """state = gate * state + (1 - gate) * candidate along time, with gates from the input."""

    def forward(self, gate, candidate):
        gate = torch.sigmoid(gate)
        state, states = torch.zeros_like(gate[..., 0]), []
        for t in range(gate.shape[-1]):
            state = gate[..., t] * state + (1.0 - gate[..., t]) * torch.tanh(candidate[..., t])
            states.append(state)
        return torch.stack(states, dim=-1)


def get_inputs():
    return [torch.randn(batch, channels, length), torch.randn(batch, channels, length) * 2.0]


def get_init_inputs():
    return []
