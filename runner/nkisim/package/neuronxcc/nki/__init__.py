"""neuronxcc.nki: kernels traced for and run on nkigrid's simulator of NeuronCore-v2."""

from ._trace.kernel import Kernel as _Kernel
from ._trace.launch import launch as _launch
from .typing import tensor  # noqa: F401

_MODES = ("auto", "jax", "torchxla", "baremetal", "benchmark", "simulation", "trace")


def _plain(func):
    return func.func if isinstance(func, _Kernel) else func


def jit(func=None, mode="auto", **kwargs):
    """Makes a kernel of a function. mode: auto, baremetal, simulation, benchmark, trace (a sub-kernel); others run as
    auto."""
    if mode not in _MODES:
        raise ValueError(f"nki.jit: mode {mode!r} (one of {', '.join(_MODES)})")
    if func is None:
        return lambda f: jit(f, mode, **kwargs)
    return _Kernel(_plain(func), mode, options=kwargs)


def trace(func=None, **kwargs):
    """A sub-kernel; also what simulate_kernel takes."""
    return jit(func, "trace", **kwargs)


def baremetal(func=None, **kwargs):
    """A kernel that runs on numpy arrays (here: on the engine)."""
    return jit(func, "baremetal", **kwargs)


def benchmark(func=None, **kwargs):
    """As baremetal; afterwards kernel.benchmark_result.nc_latency holds the engine's estimate [us]."""
    return jit(func, "benchmark", **kwargs)


def profile(func=None, **kwargs):
    """As benchmark; no trace files are written."""
    return jit(func, "benchmark", **kwargs)


def simulate_kernel(kernel, *args, **kwargs):
    """Traces the kernel and runs it on numpy arrays. @returns an array, or a tuple of them."""
    if not isinstance(kernel, _Kernel):
        kernel = _Kernel(kernel)
    return _launch(kernel, args, kwargs)


nki_jit = jit


def __getattr__(name):
    if name in ("language", "isa", "typing", "compiler"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(
        f"module 'neuronxcc.nki' has no attribute '{name}'; it has jit, trace, baremetal, benchmark, profile, "
        "simulate_kernel"
    )
