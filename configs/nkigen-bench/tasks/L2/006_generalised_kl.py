# nkigrid: category=loss
# nkigrid: domain p=positive
# nkigrid: domain q=positive
import torch
import torch.nn as nn

rows, bins = 400, 300


class Model(nn.Module):
    """Generalised Kullback-Leibler divergence of two positive spectra, averaged over the bins."""

    def forward(self, p, q):
        gap = p * (torch.log(p) - torch.log(q)) - p + q
        return torch.mean(gap, dim=1, keepdim=True)


def get_inputs():
    return [torch.rand(rows, bins) + 0.1, torch.rand(rows, bins) + 0.1]


def get_init_inputs():
    return []
