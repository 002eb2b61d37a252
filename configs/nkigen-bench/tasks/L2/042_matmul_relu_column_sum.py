# nkigrid: category=matmul-epilogue
# nkigrid: blind=bfloat16
# Means over many products, in which their rounding cancels.
import torch
import torch.nn as nn

m, k, n = 240, 128, 400


class Model(nn.Module):
    """The mean over the rows of a rectified product."""

    def forward(self, a, b):
        return torch.mean(torch.relu(torch.matmul(a, b)), dim=0, keepdim=True)


def get_inputs():
    return [torch.randn(m, k), torch.randn(k, n) * (0.05 + 0.3 * torch.rand(n))]


def get_init_inputs():
    return []
