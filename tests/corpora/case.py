"""One kernel of a corpus, tried in a process of its own."""

import ast
import contextlib
import importlib.util
import io
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from dataclasses import dataclass
from typing import Callable
from unittest.mock import MagicMock

SECONDS = 900
_folders = []  # of this process, removed when its case is done


@dataclass
class Case:
    """run: raises where the kernel is refused or wrong. passed_there: the verdict recorded on a chip, None where the
    corpus is known to work."""

    name: str
    run: Callable[[], None]
    passed_there: bool | None = None


HOST_ONLY = (
    "jax",
    "loguru",
    "torch_neuronx",
    "torch_xla",
    "torch_xla.core",
    "torch_xla.core.xla_model",
    "tqdm",
    "transformers",
    "transformers.models",
    "transformers.models.llama",
    "transformers.models.llama.modeling_llama",
)


def definitions(path):
    """A module of a file up to its last definition: without the program at its end."""
    text = pathlib.Path(path).read_text()
    kept = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    end = max(node.end_lineno for node in ast.parse(text).body if isinstance(node, kept))
    return load_text("\n".join(text.splitlines()[:end]) + "\n")


def load_text(text):
    """A module of this text; its file stays until the process ends: the tracer reads it."""
    folder = tempfile.mkdtemp(prefix="corpora")
    _folders.append(folder)
    path = pathlib.Path(folder, "kernel_file.py")
    path.write_text(text)
    return load(path)


def load(path, *folders):
    """Imports a file under a name of its own, with `folders` and its own folder on the path. What only its host program
    needs of a device's framework is a stand-in."""
    for name in HOST_ONLY:
        sys.modules.setdefault(name, MagicMock(name=name))
    for folder in (*folders, os.path.dirname(path)):
        if folder not in sys.path:
            sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location(f"corpus_{abs(hash(str(path)))}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def close(actual, expected, relative=1e-3, absolute=1e-5):
    """@raises AssertionError with the worst place, for NaN as well"""
    import numpy as np

    actual, expected = np.asarray(actual, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    np.testing.assert_allclose(actual, expected, rtol=relative, atol=absolute, equal_nan=False)


def near(actual, expected, relative):
    """By norm, as measurements of whole results are judged. @raises AssertionError"""
    import numpy as np

    actual, expected = np.asarray(actual, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    assert actual.shape == expected.shape, f"shape {actual.shape}, not {expected.shape}"
    error = np.linalg.norm(actual - expected) / np.linalg.norm(expected)
    assert error < relative, f"wrong numbers: relative error {error:.2e}"


def attempt(case):
    """None, or the first line of what went wrong. The child is killed after SECONDS."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.write(write, _first_line(case).encode("utf-8", "replace")[:4096])
        for folder in _folders:
            shutil.rmtree(folder, True)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read().decode("utf-8", "replace")
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return f"timeout after {SECONDS} s" if number == signal.SIGALRM else f"killed by signal {number}"
    return text or None


class Traced(BaseException):
    """The kernel was taken; it is not run."""


def trace_only():
    """Cases end where a kernel would run: what the tracer and the validator say of a corpus, in seconds."""
    from neuronxcc.nki._trace import engine

    def stop(program, _):
        if refusal := engine.validate(program.data):
            raise AssertionError(refusal)
        raise Traced

    engine.run = stop


def _first_line(case):
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(
            io.StringIO()
        ):
            warnings.simplefilter("ignore")
            case.run()
    except Traced:
        return ""
    except BaseException as error:
        if os.environ.get("CORPORA_TRACE"):
            traceback.print_exc()
        lines = [line for line in str(error).splitlines() if line.strip()]
        return f"{type(error).__name__}: {lines[0].strip() if lines else ''}"
    return ""
