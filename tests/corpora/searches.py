"""Search traces of an optimiser on Trn1 (autocomp's examples): each file is the line of ancestors of the kernel that it
found, every one of them right and measured there."""

import ast
import pathlib
import re

from case import Case, close, load_text
from traces import HEAD

TITLE = "search traces of an optimiser, five tasks"
CHECKOUT = "autocomp"


def _bfloat16(values):
    import neuronxcc.nki.language as nl

    return nl.static_cast(values, nl.bfloat16)


def _exact(values):
    import numpy as np

    return np.asarray(values, dtype=np.float32)


def gemm(draw):
    a, b = (_bfloat16(draw.standard_normal((8192, n), dtype="float32") * n**-0.5) for n in (4096, 8192))
    return (a, b), {}, lambda: _exact(a).T @ _exact(b), (1e-2, 1e-2)


def mamba(draw):
    import numpy as np

    channels, states, length = 256, 16, 2048
    delta, u = (draw.random((1, channels, length), dtype=np.float32) for _ in range(2))
    decay = -draw.random((channels, states), dtype=np.float32)
    b, c = (draw.random((1, states, length), dtype=np.float32) for _ in range(2))

    def expected():
        state, out = np.zeros((channels, states)), np.empty((1, channels, length))
        for t in range(length):
            step = delta[0, :, t, None]
            state = np.exp(step * decay) * state + step * u[0, :, t, None] * b[0, None, :, t]
            out[0, :, t] = state @ c[0, :, t]
        return out

    return (delta, u, decay, b, c), {}, expected, (1e-3, 1e-3)


def _attention(q, k, v):
    """Rows are places."""
    import numpy as np

    scores = q.astype(np.float64) @ k.T.astype(np.float64)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights @ v / weights.sum(axis=1, keepdims=True)


def attention(draw):
    q, k, v = (_bfloat16(2 * draw.random((128, 4096), dtype="float32") - 1) for _ in range(3))
    return (q, k, v), {}, lambda: _attention(*(_exact(x).T for x in (q, k, v))), (0, 1e-2)


def sd_attention(draw):
    q, k, v = (draw.random((4096, 64), dtype="float32") for _ in range(3))
    return (q, k, v), {}, lambda: _attention(0.125 * q, k, v), (1e-3, 1e-4)


def conv1d(draw):
    import numpy as np

    image = draw.random((8, 512, 1, 2048), dtype=np.float32)
    taps = draw.random((512, 1, 1, 3), dtype=np.float32)

    def expected():
        padded = np.pad(image.astype(np.float64), ((0, 0), (0, 0), (0, 0), (1, 1)))
        return sum(padded[..., k : k + 2048] * taps[:, 0, :, k][None, :, :, None] for k in range(3))

    return (image, taps), {"padding": ((0, 0), (1, 1))}, expected, (1e-2, 1e-4)


TASKS = {"gemm": gemm, "mamba": mamba, "attention": attention, "sd_attention": sd_attention, "conv1d": conv1d}


def _run(source, task):
    import numpy as np

    module = load_text(HEAD + source)
    kernel = next(getattr(module, name) for name in ("solution", "test") if hasattr(module, name))
    arguments, named, expected, (relative, absolute) = task(np.random.default_rng(0))
    result = kernel(*arguments, **named)
    wanted = expected()
    close(np.asarray(result, dtype=np.float32).reshape(wanted.shape), wanted, relative, absolute)


def cases(root):
    found = []
    for path in sorted(pathlib.Path(root).glob("examples/trn-*/*_trace.py")):
        number, task = path.stem.removesuffix("_trace").split("_", 1)
        for k, code in enumerate(re.findall(r"^code='''(.*?)''',\n", path.read_text(), re.S | re.M)):
            source = ast.literal_eval("'''" + code + "'''")
            found.append(Case(f"{number}_{task}/{k}", lambda s=source, t=TASKS[task]: _run(s, t), True))
    return found
