# nkigrid: category=scan
import torch
import torch.nn as nn

batch, channels, length = 2, 100, 90


class Model(nn.Module):
    """A receptance-weighted average of the past: exponentially fading sums of values and of their weights."""

    def __init__(self, channels):
        super().__init__()
        self.decay = nn.Parameter(0.3 + 0.7 * torch.rand(channels, 1))
        self.bonus = nn.Parameter(0.5 * torch.randn(channels, 1))

    def forward(self, r, k, v):
        keep, weight = torch.exp(-self.decay), torch.exp(k)
        above, below, outputs = torch.zeros_like(v[..., 0]), torch.zeros_like(v[..., 0]), []
        for t in range(v.shape[-1]):
            own = torch.exp(self.bonus[:, 0]) * weight[..., t]
            outputs.append((above + own * v[..., t]) / (below + own))
            above = keep[:, 0] * above + weight[..., t] * v[..., t]
            below = keep[:, 0] * below + weight[..., t]
        return torch.sigmoid(r) * torch.stack(outputs, dim=-1)


def get_inputs():
    return [
        torch.randn(batch, channels, length),
        0.7 * torch.randn(batch, channels, length),
        torch.randn(batch, channels, length) * 2.0,
    ]


def get_init_inputs():
    return [channels]
