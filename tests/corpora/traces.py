"""Search traces of an optimiser on Trn1 (autocomp's sample run): kernels written by models, each with its verdict and,
where it was right, its latency."""

import ast
import json
import pathlib
import re

from case import Case, close, load_text

TITLE = "search traces of an optimiser (layer norm)"
CHECKOUT = "autocomp"
HEAD = """import math
import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import neuronxcc.nki.typing as nt
from neuronxcc.nki.language import par_dim
"""
SHAPE = (4096, 8192)


def candidates(root):
    """[(name, source, latency [us] or None where the chip's run was wrong or refused)]"""
    found = []
    for path in sorted(pathlib.Path(root).glob("**/sample_run/eval-results-iter-*/code_*_result_full.txt")):
        verdict = json.loads((path.parent / path.name.replace("_full", "")).read_text())
        codes = re.findall(r"code='''(.*?)''',\n", path.read_text(), re.S)  # its parents' come before its own
        if not codes:
            continue
        source = ast.literal_eval("'''" + codes[-1] + "'''")
        latency = 1e3 * verdict["latency"] if verdict["correct"] else None
        found.append((f"{path.parent.name[-1]}/{path.name.split('_')[1]}", source, latency))
    return found


def kernel_of(source):
    module = load_text(HEAD + source)
    return next(getattr(module, name) for name in ("solution", "test") if hasattr(module, name))


def arguments():
    import numpy as np

    draw = np.random.default_rng(0)
    vectors = [draw.random(SHAPE[1], dtype=np.float32) for _ in range(2)]
    return draw.random(SHAPE, dtype=np.float32), 1e-5, *vectors


def _run(source):
    x, epsilon, gamma, beta = arguments()
    mean, variance = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
    expected = (x - mean) / (variance + epsilon) ** 0.5 * gamma + beta
    close(kernel_of(source)(x, epsilon, gamma, beta), expected, 5e-3, 1e-3)


def cases(root):
    return [Case(name, lambda s=source: _run(s), latency is not None) for name, source, latency in candidates(root)]
