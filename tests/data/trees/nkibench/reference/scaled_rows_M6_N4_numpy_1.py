import numpy as np

M = 6
N = 4


def get_inputs():
    x = np.random.normal(size=(M, N)).astype(np.float32)
    eps = 1e-5
    g = np.random.normal(size=(N,)).astype(np.float32)
    return [x, eps, g]


def forward(x, eps, g):
    scale = 1 / np.sqrt(np.mean(np.square(x), axis=-1, keepdims=True) + eps)
    return x * scale * g


def transform_to_nki_inputs(inputs):
    x, eps, g = inputs
    return [np.reshape(x.T, (2, N // 2, M)), eps, np.reshape(g, (1, N))]


def transform_nki_outputs(k_res, ref):
    return [np.reshape(k_res, ref.shape)]
