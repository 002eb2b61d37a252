# nkigrid: category=mlp
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, tokens, width, hidden = 2, 70, 80, 160


class Model(nn.Module):
    """Each bfloat16 token mixed with the one before it, a squared-ReLU feed-forward part, and a sigmoid gate."""

    def __init__(self, width, hidden):
        super().__init__()
        self.mix_key = nn.Parameter(torch.rand(width))
        self.mix_gate = nn.Parameter(torch.rand(width))
        self.key = nn.Linear(width, hidden, bias=False)
        self.value = nn.Linear(hidden, width, bias=False)
        self.gate = nn.Linear(width, width, bias=False)
        for layer in (self.key, self.value, self.gate):
            nn.init.normal_(layer.weight, std=1.2 * layer.in_features ** -0.5)

    def forward(self, x):
        x = x.float()
        before = F.pad(x, (0, 0, 1, -1))
        key = x * self.mix_key + before * (1.0 - self.mix_key)
        gate = x * self.mix_gate + before * (1.0 - self.mix_gate)
        return torch.sigmoid(self.gate(gate)) * self.value(torch.relu(self.key(key)) ** 2)


def get_inputs():
    return [torch.randn(batch, tokens, width).bfloat16()]


def get_init_inputs():
    return [width, hidden]
