# nkigrid: category=softmax
import torch
import torch.nn as nn

batch, heads, queries, keys = 1, 8, 64, 72


class Model(nn.Module):
    """Softmax of scores less a slope times the distance of query and key, a slope for each head."""

    def __init__(self, slopes):
        super().__init__()
        self.slopes = slopes

    def forward(self, scores):
        distance = (torch.arange(scores.shape[2])[:, None] - torch.arange(scores.shape[3])).abs()
        slopes = torch.tensor(self.slopes)[:, None, None]
        return torch.softmax(2.0 * scores - slopes * distance, dim=-1)


def get_inputs():
    return [torch.randn(batch, heads, queries, keys)]


def get_init_inputs():
    return [[0.5, 0.35, 0.25, 0.18, 0.12, 0.09, 0.06, 0.04]]
