"""Course kernels: fused convolution and max pooling, graded on Trn1 or Trn2 by their course's own harness."""

import ast
import pathlib

from case import Case, close, load

TITLE = "course kernels (convolution with pooling)"
CHECKOUT = "course"
IMAGE = (32, 16)


def _run(path, pool, biased):
    import numpy as np
    import torch

    kernel = load(path).fused_conv2d_maxpool
    draw = np.random.default_rng(0)
    for inputs in (128, 256):
        for outputs in (128, 256):
            x = draw.random((4, inputs, *IMAGE), dtype=np.float32)
            w = draw.random((outputs, inputs, 3, 3), dtype=np.float32)
            bias = draw.random(outputs, dtype=np.float32) * np.float32(biased)
            expected = torch.nn.functional.conv2d(*map(torch.from_numpy, (x, w, bias)))
            if pool > 1:
                expected = torch.nn.functional.max_pool2d(expected, pool)
            close(kernel(x, w, bias, pool_size=pool), expected.numpy(), 1e-4, 1e-3)


def _parts(source):
    """(title, pool size, with bias) of what an author's file does: the bias and the pooling were extra work."""
    tree = ast.parse(source)
    entry = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "fused_conv2d_maxpool")
    reads = sum(isinstance(n, ast.Name) and n.id == "bias" for n in ast.walk(entry))
    shapes = sum(isinstance(n, ast.Attribute) and getattr(n.value, "id", "") == "bias" for n in ast.walk(entry))
    yield "", 1, False
    if reads > shapes:
        yield " bias", 1, True
    if reads > shapes and {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)} & {"max", "maximum"}:
        yield " pooling", 2, True


def cases(root):
    found = []
    for path in sorted(pathlib.Path(root).glob("*/part2/conv2d.py")):
        source = path.read_text()
        if "nl.store" not in source and "dma_copy" not in source:
            continue  # the handout, not filled in
        for title, pool, biased in _parts(source):
            run = lambda p=path, n=pool, b=biased: _run(p, n, b)  # noqa: E731
            found.append(Case(f"{path.parts[-3]}{title}", run))
    return found
