# nkigrid: category=scan
# nkigrid: domain open=index 2
import torch
import torch.nn as nn

batch, rows, length = 2, 75, 220


class Model(nn.Module):
    """Running sums that start anew wherever a flag is zero."""

    def forward(self, x, open):
        total, totals = torch.zeros_like(x[..., 0]), []
        for t in range(x.shape[-1]):
            total = total * open[..., t] + x[..., t]
            totals.append(total)
        return torch.stack(totals, dim=-1)


def get_inputs():
    return [torch.randn(batch, rows, length), torch.randint(0, 2, (batch, rows, length))]


def get_init_inputs():
    return []
