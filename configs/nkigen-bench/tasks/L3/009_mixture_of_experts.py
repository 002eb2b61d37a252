# nkigrid: category=mixture
import torch
import torch.nn as nn

tokens, width, hidden, experts = 110, 80, 96, 6


class Model(nn.Module):
    """Every token goes through all experts; the softmax of its router scores weighs their results."""

    def __init__(self, width, hidden, experts):
        super().__init__()
        self.router = nn.Linear(width, experts, bias=False)
        self.up = nn.Parameter(1.4 * width ** -0.5 * torch.randn(experts, width, hidden))
        self.down = nn.Parameter(2.0 * hidden ** -0.5 * torch.randn(experts, hidden, width))
        nn.init.normal_(self.router.weight, std=1.5 * width ** -0.5)

    def forward(self, x):
        gates = torch.softmax(self.router(x), dim=-1)
        hidden = torch.relu(torch.einsum("tw,ewh->eth", x, self.up))
        results = torch.einsum("eth,ehw->etw", hidden, self.down)
        return torch.einsum("te,etw->tw", gates, results)


def get_inputs():
    return [torch.randn(tokens, width)]


def get_init_inputs():
    return [width, hidden, experts]
