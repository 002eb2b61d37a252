# nkigrid: category=softmax
# nkigrid: domain length=index 61
import torch
import torch.nn as nn

batch, rows, keys = 12, 50, 60


class Model(nn.Module):
    """Softmax over as many keys as each batch entry has; the others get nothing."""

    def forward(self, scores, length):
        seen = torch.arange(scores.shape[-1]) <= length[:, None, None]
        return torch.softmax(torch.where(seen, 2.0 * scores, torch.full_like(scores, -1e30)), dim=-1)


def get_inputs():
    length = torch.randint(0, keys + 1, (batch,))
    length[0] = keys  # one entry sees them all: the last key is no key that never counts
    return [torch.randn(batch, rows, keys), length]


def get_init_inputs():
    return []
