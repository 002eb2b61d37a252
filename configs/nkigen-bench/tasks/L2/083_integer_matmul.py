# nkigrid: category=quantisation
# nkigrid: domain a=index 16
# nkigrid: domain b=index 16
# nkigrid: blind=bfloat16
# Whole numbers below 16 are exact in bfloat16.
import torch
import torch.nn as nn

m, k, n = 180, 128, 210


class Model(nn.Module):
    """A product of small whole numbers, exactly."""

    def forward(self, a, b):
        return torch.matmul((a - 8).float(), (b - 8).float()).int()


def get_inputs():
    return [torch.randint(0, 16, (m, k)), torch.randint(0, 16, (k, n))]


def get_init_inputs():
    return []
