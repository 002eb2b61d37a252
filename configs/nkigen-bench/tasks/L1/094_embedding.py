# nkigrid: category=indexing
# nkigrid: domain token=index 150
import torch
import torch.nn as nn

batch, tokens, vocabulary, width = 2, 160, 150, 96


class Model(nn.Module):
    """Rows of a table, chosen by token numbers."""

    def __init__(self, vocabulary, width):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)

    def forward(self, token):
        return self.table(token)


def get_inputs():
    return [torch.randint(0, vocabulary, (batch, tokens))]


def get_init_inputs():
    return [vocabulary, width]
