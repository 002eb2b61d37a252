# nkigrid: category=mlp
import torch
import torch.nn as nn

rows, width, hidden, code = 180, 128, 64, 16


class Model(nn.Module):
    """Four linear layers through a narrow middle: the input again, and its code."""

    def __init__(self, width, hidden, code):
        super().__init__()
        self.encode_1 = nn.Linear(width, hidden)
        self.encode_2 = nn.Linear(hidden, code)
        self.decode_1 = nn.Linear(code, hidden)
        self.decode_2 = nn.Linear(hidden, width)
        for layer in (self.encode_1, self.encode_2, self.decode_1, self.decode_2):
            nn.init.normal_(layer.weight, std=1.5 * layer.in_features ** -0.5)

    def forward(self, x):
        code = self.encode_2(torch.relu(self.encode_1(x)))
        return self.decode_2(torch.relu(self.decode_1(code))), code


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return [width, hidden, code]
