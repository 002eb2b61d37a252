# nkigrid: category=quantisation
# nkigrid: domain up=index 256
# nkigrid: domain down=index 256
import torch
import torch.nn as nn

rows, width, hidden = 100, 64, 128


class Model(nn.Module):
    """Two linear layers with ReLU whose weights are whole numbers 0..255 around 128, with one scale a layer."""

    def __init__(self, scale_up, scale_down):
        super().__init__()
        self.scale_up, self.scale_down = scale_up, scale_down

    def forward(self, x, up, down):
        hidden = torch.relu(torch.matmul(x, (up - 128).to(x.dtype)) * self.scale_up)
        return torch.matmul(hidden, (down - 128).to(x.dtype)) * self.scale_down


def get_inputs():
    return [torch.randn(rows, width), torch.randint(0, 256, (width, hidden)), torch.randint(0, 256, (hidden, width))]


def get_init_inputs():
    return [2.4e-3, 1.7e-3]
