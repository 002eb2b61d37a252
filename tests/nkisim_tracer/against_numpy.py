"""What tests of numbers share: inputs, a run in the engine, a comparison."""

import unittest

import numpy as np

import neuronxcc.nki as nki

RNG = np.random.default_rng(3)


def draw(*shape):
    return RNG.standard_normal(shape, dtype=np.float32)


def run(kernel, *args):
    return nki.simulate_kernel(kernel, *args)


class AgainstNumpy(unittest.TestCase):
    def close(self, got, want, tol=2e-5):
        self.assertEqual(got.shape, want.shape)
        np.testing.assert_allclose(got, want, rtol=tol, atol=tol)
