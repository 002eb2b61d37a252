# nkigrid: category=graph
# nkigrid: domain edge=index 2
import torch
import torch.nn as nn
import torch.nn.functional as F

nodes, width, features = 110, 64, 48


class Model(nn.Module):
    """Means over neighbours, weighted by a softmax of scores that add one number of each end."""

    def __init__(self, width, features, slope):
        super().__init__()
        self.slope = slope
        self.from_score = nn.Parameter(torch.randn(features, 1) * 1.5 * features ** -0.5)
        self.to_score = nn.Parameter(torch.randn(features, 1) * 1.5 * features ** -0.5)
        self.map = nn.Linear(width, features, bias=False)
        nn.init.normal_(self.map.weight, std=2.0 * width ** -0.5)

    def forward(self, x, edge):
        y = self.map(x)
        scores = F.leaky_relu(torch.matmul(y, self.from_score) + torch.matmul(y, self.to_score).t(), self.slope)
        near = (edge + torch.eye(x.shape[0], dtype=edge.dtype)) > 0
        return torch.matmul(torch.softmax(scores.masked_fill(~near, float("-inf")), dim=1), y)


def get_inputs():
    return [torch.randn(nodes, width), (torch.rand(nodes, nodes) < 0.15).long()]


def get_init_inputs():
    return [width, features, 0.2]
