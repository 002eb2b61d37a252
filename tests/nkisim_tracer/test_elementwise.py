"""Every elementwise name, traced and run by the engine, against numpy."""

import unittest

import numpy as np

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl

RNG = np.random.default_rng(5)


def draw(*shape):
    return RNG.standard_normal(shape, dtype=np.float32)


def run(kernel, *args):
    return nki.simulate_kernel(kernel, *args)


class EveryElementwiseName(unittest.TestCase):
    def test_binary_functions(self):
        table = {
            "add": np.add,
            "subtract": np.subtract,
            "multiply": np.multiply,
            "divide": np.divide,
            "power": np.power,
            "maximum": np.maximum,
            "minimum": np.minimum,
            "fmod": np.fmod,
            "mod": np.mod,
            "equal": np.equal,
            "not_equal": np.not_equal,
            "greater": np.greater,
            "greater_equal": np.greater_equal,
            "less": np.less,
            "less_equal": np.less_equal,
        }
        x, y = np.abs(draw(32, 16)) + 0.5, np.abs(draw(32, 16)) + 0.5
        for name, ufunc in table.items():

            @nki.jit
            def kernel(a, b):
                out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
                nl.store(out, value=getattr(nl, name)(nl.load(a), nl.load(b)))
                return out

            with self.subTest(name):
                np.testing.assert_allclose(run(kernel, x, y), ufunc(x, y).astype(np.float32), rtol=1e-5, atol=1e-6)

    def test_unary_functions(self):
        def sigmoid(x):
            return 1 / (1 + np.exp(-x))

        table = {
            "abs": np.abs,
            "negative": np.negative,
            "sign": np.sign,
            "trunc": np.trunc,
            "floor": np.floor,
            "ceil": np.ceil,
            "exp": np.exp,
            "log": np.log,
            "sqrt": np.sqrt,
            "rsqrt": lambda x: 1 / np.sqrt(x),
            "reciprocal": lambda x: 1 / x,
            "square": np.square,
            "sin": np.sin,
            "cos": np.cos,
            "tan": np.tan,
            "tanh": np.tanh,
            "arctan": np.arctan,
            "sigmoid": sigmoid,
            "relu": lambda x: np.maximum(x, 0),
            "silu": lambda x: x * sigmoid(x),
            "softplus": lambda x: np.log1p(np.exp(x)),
            "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
        }
        x = np.abs(draw(32, 16)) * 0.4 + 0.1
        for name, function in table.items():

            @nki.jit
            def kernel(a):
                out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
                nl.store(out, value=getattr(nl, name)(nl.load(a)))
                return out

            with self.subTest(name):
                np.testing.assert_allclose(run(kernel, x), function(x), rtol=2e-5, atol=1e-6)

    def test_integer_functions_are_exact(self):
        table = {
            "bitwise_and": np.bitwise_and,
            "bitwise_or": np.bitwise_or,
            "bitwise_xor": np.bitwise_xor,
            "add": np.add,
            "multiply": np.multiply,
            "maximum": np.maximum,
        }
        x, y = RNG.integers(-(2**15), 2**15, (16, 8), dtype=np.int32), RNG.integers(
            -(2**15), 2**15, (16, 8), dtype=np.int32
        )
        for name, ufunc in table.items():

            @nki.jit
            def kernel(a, b):
                out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
                nl.store(out, value=getattr(nl, name)(nl.load(a), nl.load(b)))
                return out

            with self.subTest(name):
                self.assertTrue(np.array_equal(run(kernel, x, y), ufunc(x, y)))


if __name__ == "__main__":
    unittest.main()
