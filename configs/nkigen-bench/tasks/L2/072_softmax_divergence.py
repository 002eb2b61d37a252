# nkigrid: category=loss
import torch
import torch.nn as nn

rows, classes = 250, 64


class Model(nn.Module):
    """How far the softmax of one row of scores is from that of another (Kullback-Leibler)."""

    def forward(self, p, q):
        log_p, log_q = torch.log_softmax(p, dim=1), torch.log_softmax(q, dim=1)
        return torch.sum(torch.exp(log_p) * (log_p - log_q), dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(rows, classes), torch.randn(rows, classes)]


def get_init_inputs():
    return []
