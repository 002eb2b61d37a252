# nkigrid: category=indexing
# nkigrid: domain token=index 64
import torch
import torch.nn as nn

batch, tokens, vocabulary, width = 4, 80, 64, 96


class Model(nn.Module):
    """Rows of a table by token number, normalised."""

    def __init__(self, vocabulary, width):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.norm = nn.LayerNorm(width)
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.3)
        nn.init.normal_(self.norm.bias, std=0.3)

    def forward(self, token):
        return self.norm(self.table(token))


def get_inputs():
    return [torch.randint(0, vocabulary, (batch, tokens))]


def get_init_inputs():
    return [vocabulary, width]
