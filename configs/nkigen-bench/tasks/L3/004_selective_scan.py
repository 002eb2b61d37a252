# nkigrid: category=scan
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, channels, length, states = 2, 160, 192, 4


class Model(nn.Module):
    """A state-space recurrence whose step depends on the input, with a skip connection."""

    def __init__(self, channels, states):
        super().__init__()
        self.decay = nn.Parameter(0.3 * torch.randn(channels, states))
        self.skip = nn.Parameter(1.0 + 0.3 * torch.randn(channels))

    def forward(self, u, step, b, c):
        step = F.softplus(step)
        rate = -torch.exp(self.decay)
        state = torch.zeros(u.shape[0], u.shape[1], rate.shape[1])
        outputs = []
        for t in range(u.shape[2]):
            now = step[:, :, t, None]
            state = torch.exp(now * rate) * state + now * u[:, :, t, None] * b[:, None, :, t]
            outputs.append(torch.sum(state * c[:, None, :, t], dim=2))
        return torch.stack(outputs, dim=2) + u * self.skip[:, None]


def get_inputs():
    return [torch.randn(batch, channels, length), torch.randn(batch, channels, length) - 1.0,
            torch.randn(batch, states, length), torch.randn(batch, states, length)]


def get_init_inputs():
    return [channels, states]
