# nkigrid: category=transformer
import torch
import torch.nn as nn

batch, tokens, width, heads, hidden = 2, 50, 64, 4, 128


class Model(nn.Module):
    """A post-norm transformer encoder layer: self-attention, residual, norm, feed-forward, residual, norm."""

    def __init__(self, width, heads, hidden):
        super().__init__()
        self.heads = heads
        self.mix = nn.Linear(width, 3 * width, bias=False)
        self.project = nn.Linear(width, width, bias=False)
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)
        self.first = nn.LayerNorm(width)
        self.second = nn.LayerNorm(width)
        nn.init.normal_(self.mix.weight, std=1.5 * width ** -0.5)
        nn.init.normal_(self.project.weight, std=1.5 * width ** -0.5)
        nn.init.normal_(self.up.weight, std=1.4 * width ** -0.5)
        nn.init.normal_(self.down.weight, std=1.4 * hidden ** -0.5)
        for norm in (self.first, self.second):
            nn.init.normal_(norm.weight, mean=1.0, std=0.2)
            nn.init.normal_(norm.bias, std=0.2)

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = (part.view(b, t, self.heads, -1).transpose(1, 2) for part in self.mix(x).chunk(3, dim=-1))
        weights = torch.softmax(torch.matmul(q, k.transpose(-2, -1)) * q.shape[-1] ** -0.5, dim=-1)
        mixed = torch.matmul(weights, v).transpose(1, 2).reshape(b, t, w)
        x = self.first(x + self.project(mixed))
        return self.second(x + self.down(torch.relu(self.up(x))))


def get_inputs():
    return [torch.randn(batch, tokens, width)]


def get_init_inputs():
    return [width, heads, hidden]
