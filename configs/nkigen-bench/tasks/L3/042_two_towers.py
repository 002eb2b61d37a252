# nkigrid: category=recommender
# nkigrid: domain user=index 100
# nkigrid: domain item=index 90
import torch
import torch.nn as nn

rows, users, items, width, hidden = 110, 100, 90, 48, 64


class Model(nn.Module):
    """A user's and an item's vector, a layer for each, and the score of every user of the batch with every item."""

    def __init__(self, users, items, width, hidden):
        super().__init__()
        self.users = nn.Embedding(users, width)
        self.items = nn.Embedding(items, width)
        self.user_layer = nn.Linear(width, hidden)
        self.item_layer = nn.Linear(width, hidden)
        nn.init.normal_(self.user_layer.weight, std=1.4 * width ** -0.5)
        nn.init.normal_(self.item_layer.weight, std=1.4 * width ** -0.5)

    def forward(self, user, item):
        u = torch.relu(self.user_layer(self.users(user)))
        i = torch.relu(self.item_layer(self.items(item)))
        return torch.matmul(u, i.t()) * 0.1


def get_inputs():
    return [torch.randint(0, users, (rows,)), torch.randint(0, items, (rows,))]


def get_init_inputs():
    return [users, items, width, hidden]
