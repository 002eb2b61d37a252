# nkigrid: category=recommender
import torch
import torch.nn as nn

batch, dense, features, width, hidden = 40, 13, 26, 32, 64


class Model(nn.Module):
    """Dense numbers become one more feature vector; the inner products of all pairs of vectors go through a layer."""

    def __init__(self, dense, features, width, hidden):
        super().__init__()
        self.bottom = nn.Linear(dense, width)
        self.top = nn.Linear((features + 1) ** 2, hidden)
        nn.init.normal_(self.bottom.weight, std=1.4 * dense ** -0.5)
        nn.init.normal_(self.top.weight, std=0.2 * (features + 1) ** -1.0)

    def forward(self, numbers, vectors):
        first = torch.relu(self.bottom(numbers))
        vectors = torch.cat((first.unsqueeze(1), vectors), dim=1)
        products = torch.bmm(vectors, vectors.transpose(1, 2))
        return torch.relu(self.top(products.flatten(1)))


def get_inputs():
    return [torch.randn(batch, dense), torch.randn(batch, features, width)]


def get_init_inputs():
    return [dense, features, width, hidden]
