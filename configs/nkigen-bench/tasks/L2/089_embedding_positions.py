# nkigrid: category=indexing
# nkigrid: domain token=index 120
import torch
import torch.nn as nn

batch, tokens, vocabulary, width = 3, 100, 120, 128


class Model(nn.Module):
    """Rows of a table by token number plus a row for the position, scaled."""

    def __init__(self, vocabulary, tokens, width):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.position = nn.Parameter(0.5 * torch.randn(tokens, width))

    def forward(self, token):
        return 0.5 * self.table(token) + self.position


def get_inputs():
    return [torch.randint(0, vocabulary, (batch, tokens))]


def get_init_inputs():
    return [vocabulary, tokens, width]
