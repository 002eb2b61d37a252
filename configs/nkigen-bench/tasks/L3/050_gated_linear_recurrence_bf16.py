# nkigrid: category=scan
import torch
import torch.nn as nn
import torch.nn.functional as F

batch, tokens, width, hidden = 2, 100, 64, 96


class Model(nn.Module):
    """Linear maps of bfloat16 tokens to input, gate and output gate, a gated linear recurrence along the tokens, and a
    linear map back."""

    def __init__(self, width, hidden):
        super().__init__()
        self.value = nn.Linear(width, hidden, bias=False)
        self.keep = nn.Linear(width, hidden)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.back = nn.Linear(hidden, width, bias=False)
        for layer in (self.value, self.keep, self.gate, self.back):
            nn.init.normal_(layer.weight, std=1.3 * layer.in_features ** -0.5)

    def forward(self, x):
        x = x.float()
        keep = torch.sigmoid(self.keep(x) + 1.0)
        value = self.value(x) * torch.sqrt(1.0 - keep * keep)
        state, states = torch.zeros_like(value[:, 0]), []
        for t in range(x.shape[1]):
            state = keep[:, t] * state + value[:, t]
            states.append(state)
        return self.back(torch.stack(states, dim=1) * F.gelu(self.gate(x)))


def get_inputs():
    return [torch.randn(batch, tokens, width).bfloat16()]


def get_init_inputs():
    return [width, hidden]
