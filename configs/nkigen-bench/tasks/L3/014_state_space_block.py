# nkigrid: category=scan
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, width, length, states = 1, 96, 120, 3


class Model(nn.Module):
    """A state-space block without its projections: causal depthwise convolution, SiLU, a selective scan and a gate."""

    def __init__(self, width, states):
        super().__init__()
        self.taps = nn.Parameter(0.6 * torch.randn(width, 1, 4))
        self.decay = nn.Parameter(0.3 * torch.randn(width, states))

    def forward(self, u, step, b, c, gate):
        u = F.silu(F.conv1d(F.pad(u, (3, 0)), self.taps, groups=u.shape[1]))
        step, rate = F.softplus(step), -torch.exp(self.decay)
        state, outputs = torch.zeros(u.shape[0], u.shape[1], rate.shape[1], dtype=u.dtype), []
        for t in range(u.shape[2]):
            now = step[:, :, t, None]
            state = torch.exp(now * rate) * state + now * u[:, :, t, None] * b[:, None, :, t]
            outputs.append(torch.sum(state * c[:, None, :, t], dim=2))
        return torch.stack(outputs, dim=2) * F.silu(gate)


def get_inputs():
    u, gate = torch.randn(batch, width, length), torch.randn(batch, width, length)
    b, c = torch.randn(batch, states, length), torch.randn(batch, states, length)
    return [u, torch.randn(batch, width, length) - 0.5, b, c, gate]


def get_init_inputs():
    return [width, states]
