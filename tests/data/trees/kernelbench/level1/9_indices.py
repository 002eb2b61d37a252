import torch
import torch.nn as nn

vocabulary = 37


class Model(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)

    def forward(self, words):
        return self.table(words)


def get_inputs():
    return [torch.randint(0, vocabulary, (4, 5))]


def get_init_inputs():
    return [vocabulary, 8]
