import numpy as np


def get_inputs():
    return [np.random.normal(size=(6, 4)).astype(np.float32)]


def forward(x):
    return x + 1


def transform_to_nki_inputs(inputs):
    return [inputs[0] * 0.5]
