# nkigrid: category=graph
# nkigrid: domain edge=index 2
import torch
import torch.nn as nn

nodes, width, hidden, features = 120, 72, 96, 40


class Model(nn.Module):
    """Two layers of means over a node's neighbours and itself, each followed by a linear map."""

    def __init__(self, width, hidden, features):
        super().__init__()
        self.first = nn.Linear(width, hidden, bias=False)
        self.second = nn.Linear(hidden, features, bias=False)
        nn.init.normal_(self.first.weight, std=6.0 * width ** -0.5)
        nn.init.normal_(self.second.weight, std=3.0 * hidden ** -0.5)

    def forward(self, x, edge):
        near = edge.to(x.dtype) + torch.eye(x.shape[0])
        mean = near / near.sum(dim=1, keepdim=True)
        x = torch.relu(self.first(torch.matmul(mean, x)))
        return self.second(torch.matmul(mean, x))


def get_inputs():
    return [torch.randn(nodes, width), (torch.rand(nodes, nodes) < 0.1).long()]


def get_init_inputs():
    return [width, hidden, features]
