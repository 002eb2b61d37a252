import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.an_operation_of_the_year_2100(x)


def get_inputs():
    return [torch.randn(4)]


def get_init_inputs():
    return []
