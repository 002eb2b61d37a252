"""The two stages of a compile, as documented: stage 1 raises ordinary exceptions, stage 2 is a program that fails with
an exit status.

A line `# fake-nki: WORDS` of a kernel's file steers stage 1, `# fake-cc: WORDS` the backend, `# fake-nrt: WORDS` the
runtime."""

import builtins
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

import numpy as np

from ._trace import dtypes, errors
from ._trace.builder import Options
from ._trace.jit import trace_call


def directives(source, word):
    return re.findall(rf"^# fake-{word}: (.*)$", source, re.MULTILINE)


def dtype_of(array):
    return dtypes.lookup("bfloat16" if array.dtype.names else array.dtype)


def plain(error):
    """The exception as the vendor raises it: a builtin one, with nothing of ours on it."""
    kind = next(k for k in type(error).__mro__ if getattr(builtins, k.__name__, None) is k)
    return kind(str(error)).with_traceback(error.__traceback__)


def trace(func, grid, arrays):
    described = {k: (f"arg{k}", a.shape, dtype_of(a)) for k, a in enumerate(arrays)}
    try:
        return trace_call(func, tuple(range(len(arrays))), {}, described, Options(sdk="2.24"), grid)
    except errors.NkiError as error:
        raise plain(error) from None


class Baremetal:
    def __init__(self, func, grid, neff, options):
        self.func, self.grid, self.neff, self.options = func, grid, neff, options

    def __getitem__(self, grid):
        return Baremetal(self.func, grid if isinstance(grid, tuple) else (grid,), self.neff, self.options)

    def __call__(self, *arrays):
        assert all(isinstance(a, np.ndarray) for a in arrays)
        with open(inspect.getsourcefile(self.func)) as file:  # the vendor reads the source by its file, too
            source = file.read()
        for word, number in (("crash", signal.SIGSEGV), ("stop", signal.SIGTERM)):
            if word in directives(source, "nki"):
                os.kill(os.getpid(), number)
        program = trace(self.func, self.grid, arrays)
        folder = tempfile.mkdtemp()
        about = {
            "cc": directives(source, "cc"),
            "nrt": directives(source, "nrt"),
            "inputs": [{"shape": list(a.shape), "dtype": dtype_of(a).name} for a in arrays],
            "outputs": [{"shape": list(shape), "dtype": dtype} for shape, dtype in program.outputs],
        }
        with open(os.path.join(folder, "about.json"), "w") as file:
            json.dump(about, file)
        with open(os.path.join(folder, "program"), "wb") as file:
            file.write(program.data)
        compiler = os.path.join(
            os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "neuronx_cc.py"
        )
        command = [
            sys.executable,
            "-B",
            compiler,
            "compile",
            "--framework",
            "XLA",
            folder,
            "--target",
            "trn1",
            "--output",
            self.neff,
            *self.options.split(),
        ]
        try:
            subprocess.run(command, check=True)
        except subprocess.CalledProcessError as error:
            raise RuntimeError(f"Compilation failed for {self.func.__name__} with error {error}") from None
        raise RuntimeError("nrt_init failed: no neuron device")  # there is none in a child that only compiles


def baremetal(func=None, *, save_neff_name=None, additional_compile_opt="", **_):
    if func is None:
        return lambda f: baremetal(f, save_neff_name=save_neff_name, additional_compile_opt=additional_compile_opt)
    return Baremetal(func, (), save_neff_name, additional_compile_opt)
