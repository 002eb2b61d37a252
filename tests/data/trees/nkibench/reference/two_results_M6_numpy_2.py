import numpy as np


def get_inputs():
    return [np.random.normal(size=(6, 4)).astype(np.float32), np.random.normal(size=(4, 6)).astype(np.float32)]


def forward(a, b):
    return np.matmul(a, b), a.sum(axis=1)


def transform_to_nki_inputs(inputs):
    return inputs
