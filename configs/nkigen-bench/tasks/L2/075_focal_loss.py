# nkigrid: category=loss
# nkigrid: domain target=index 2
import torch
import torch.nn as nn

rows, cols = 200, 120


class Model(nn.Module):
    """Focal loss of scores against labels of 0 and 1, the mean of each row."""

    def forward(self, score, target):
        wanted = target.to(score.dtype)
        p = torch.sigmoid(score)
        right = p * wanted + (1.0 - p) * (1.0 - wanted)
        return torch.mean((1.0 - right) ** 2 * -torch.log(right), dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(rows, cols) * (0.5 + 2.0 * torch.rand(rows, 1)), torch.randint(0, 2, (rows, cols))]


def get_init_inputs():
    return []
