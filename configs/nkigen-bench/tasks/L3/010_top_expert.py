# nkigrid: category=mixture
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, tokens, width, hidden, experts = 2, 60, 64, 80, 8


class Model(nn.Module):
    """Each token goes through the one expert with the highest router score, times its probability."""

    def __init__(self, width, hidden, experts):
        super().__init__()
        self.router = nn.Linear(width, experts, bias=False)
        self.up = nn.Parameter(1.4 * width ** -0.5 * torch.randn(experts, width, hidden))
        self.down = nn.Parameter(4.0 * hidden ** -0.5 * torch.randn(experts, hidden, width))
        nn.init.normal_(self.router.weight, std=2.0 * width ** -0.5)

    def forward(self, x):
        probability, choice = torch.softmax(self.router(x), dim=-1).max(dim=-1, keepdim=True)
        hidden = F.gelu(torch.einsum("btw,ewh->bteh", x, self.up))
        results = torch.einsum("bteh,ehw->btew", hidden, self.down)
        chosen = torch.gather(results, 2, choice[..., None].expand(-1, -1, 1, x.shape[-1])).squeeze(2)
        return probability * chosen


def get_inputs():
    return [torch.randn(batch, tokens, width)]


def get_init_inputs():
    return [width, hidden, experts]
