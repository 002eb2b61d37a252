"""Random programs over three tiles, against numpy: slices that overlap, updates in place, results that are kept while
their operands change, loops whose slices move. What the tracer writes in place and the engine leaves out must not
show."""

import random
import unittest

import numpy as np

from neuronxcc.nki._trace import engine

from kernels import compile_body

TILES, ROWS, COLUMNS = "abc", 32, 16
PROGRAMS = 120


class Writer:
    """The same statements twice: for the kernel and for numpy."""

    def __init__(self, seed):
        self.random, self.kernel, self.numpy = random.Random(seed), [], []
        for _ in range(self.random.randrange(3, 9)):
            if self.random.random() < 0.35:
                self.add("for i in nl.sequential_range(4):", "for i in range(4):")
                for _ in range(self.random.randrange(1, 4)):
                    self.statement("    ", 4, True)
            elif self.random.random() < 0.2:
                to, of = self.tile(), self.tile()
                self.add(f"{to} = nl.copy({of})", f"{to} = {of}.copy()")
            else:
                self.statement("", self.random.choice([4, 8, 16]), False)

    def add(self, kernel, numpy):
        self.kernel.append(kernel)
        self.numpy.append(numpy)

    def tile(self):
        return self.random.choice(TILES)

    def part(self, width, moving):
        """(subscript of the kernel, of numpy)"""
        if moving and self.random.random() < 0.5:
            return "[:, nl.ds(i * 4, 4)]", "[:, i * 4:i * 4 + 4]"
        start = self.random.randrange(COLUMNS + 1 - width)
        return (f"[:, {start}:{start + width}]",) * 2

    def statement(self, indent, width, moving):
        t, u, v = (self.tile() for _ in range(3))
        to, x, y = (self.part(width, moving) for _ in range(3))
        (tk, tn), (uk, un), (vk, vn) = ((n + p[0], n + p[1]) for n, p in ((t, to), (u, x), (v, y)))
        for kernel, numpy in self.random.choice(
            [
                [(f"{tk} = nl.add({uk}, {vk})", f"{tn} = {un} + {vn}")],
                [(f"{tk} = nl.multiply({uk}, 0.5)", f"{tn} = {un} * np.float32(0.5)")],
                [(f"{tk} += {uk}", f"{tn} = {tn} + {un}")],
                [(f"{tk} -= {uk}", f"{tn} = {tn} - {un}")],
                [(f"{tk} = nl.copy({uk})", f"{tn} = {un}.copy()")],
                [(f"{tk} = {uk}", f"{tn} = {un}.copy()")],
                [
                    (f"kept = nl.subtract({uk}, {vk})", f"kept = {un} - {vn}"),
                    (f"{v}{to[0]} = nl.maximum({uk}, 1.0)", f"{v}{to[1]} = np.maximum({un}, 1)"),
                    (f"{tk} = kept", f"{tn} = kept"),
                ],
                [
                    (f"top = nl.max({uk}, axis=1, keepdims=True)", f"top = {un}.max(axis=1, keepdims=True)"),
                    (f"{tk} = nl.subtract({vk}, top)", f"{tn} = {vn} - top"),
                ],
                [(f"{tk} = nisa.tensor_scalar({uk}, np.add, {v}[:, 3:4])", f"{tn} = {un} + {v}[:, 3:4]")],
            ]
        ):
            self.add(indent + kernel, indent + numpy)


class RandomPrograms(unittest.TestCase):
    def test_each_gives_numpys_numbers(self):
        draw = np.random.default_rng(0)
        shape = f"({ROWS}, {COLUMNS}), dtype=nl.float32, buffer=nl.shared_hbm"
        head = [f"{t}_out = nl.ndarray({shape})\n{t} = nl.load({t}_in)" for t in TILES]
        tail = [f"nl.store({t}_out, value={t})" for t in TILES] + ["return a_out, b_out, c_out"]
        params = [(f"{t}_in", (ROWS, COLUMNS), "float32") for t in TILES]
        for seed in range(PROGRAMS):
            written = Writer(seed)
            text = "\n".join(written.kernel)
            inputs = [draw.standard_normal((ROWS, COLUMNS), dtype=np.float32) for _ in TILES]
            result = compile_body("\n".join(head + written.kernel + tail), params)
            self.assertTrue(result["ok"], result.get("message", "") + text)
            outputs, _ = engine.run_raw(result["program"], inputs, result["outputs"])
            values = {"np": np, **{t: x.copy() for t, x in zip(TILES, inputs)}}
            exec("\n".join(written.numpy), values)
            for t, got in zip(TILES, outputs):
                np.testing.assert_allclose(got, values[t], rtol=1e-5, atol=1e-5, err_msg=f"{seed} {t}\n{text}")


if __name__ == "__main__":
    unittest.main()
