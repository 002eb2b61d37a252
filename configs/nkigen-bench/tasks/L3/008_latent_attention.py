# nkigrid: category=attention
import torch
import torch.nn as nn

batch, tokens, width, heads, latent = 2, 72, 96, 4, 24


class Model(nn.Module):
    """Self-attention whose keys and values of all heads come from one narrow latent vector a token."""

    def __init__(self, width, heads, latent):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.compress = nn.Linear(width, latent, bias=False)
        self.key = nn.Linear(latent, width, bias=False)
        self.value = nn.Linear(latent, width, bias=False)
        self.project = nn.Linear(width, width, bias=False)
        for layer in (self.query, self.compress, self.key, self.value, self.project):
            nn.init.normal_(layer.weight, std=1.3 * layer.in_features ** -0.5)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x):
        narrow = self.compress(x)
        q, k, v = self.split(self.query(x)), self.split(self.key(narrow)), self.split(self.value(narrow))
        weights = torch.softmax(torch.matmul(q, k.transpose(-2, -1)) * q.shape[-1] ** -0.5, dim=-1)
        return x + self.project(torch.matmul(weights, v).transpose(1, 2).reshape(x.shape))


def get_inputs():
    return [torch.randn(batch, tokens, width)]


def get_init_inputs():
    return [width, heads, latent]
