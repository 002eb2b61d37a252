"""Kernels: functions decorated with nki.jit, launched from the host or inlined into another kernel."""

from .context import current, fail
from .jit import call_inline
from .launch import launch


class Kernel:
    """A function decorated with nki.jit, with its launch grid."""

    def __init__(self, func, mode="auto", grid=(), options=None, results=None):
        self.func, self.mode, self.grid, self.options = func, mode, tuple(grid), dict(options or {})
        self._results = [None] if results is None else results  # shared with this kernel's launches over grids
        self.__name__ = getattr(func, "__name__", "kernel")
        self.__doc__ = getattr(func, "__doc__", None)
        self.__wrapped__ = func

    @property
    def benchmark_result(self):
        """Of the last run, whatever its grid; None before it."""
        return self._results[0]

    @benchmark_result.setter
    def benchmark_result(self, latency):
        self._results[0] = latency

    def __getitem__(self, grid):
        grid = grid if isinstance(grid, tuple) else (grid,)
        if current() is not None:
            fail(
                "CONTROL_FLOW",
                f"kernel '{self.__name__}' is launched with a grid inside a kernel",
                rule="nested kernels have no grid",
                fix="call it without [grid]",
                official="nested_kernel_with_spmd_grid",
            )
        # An extent of 0 is one program: the vendor's pipelined attention is launched that way.
        return type(self)(self.func, self.mode, tuple(int(g) or 1 for g in grid), self.options, self._results)

    def __call__(self, *args, **kwargs):
        if current() is not None:  # a sub-kernel: inlined
            return call_inline(self.func, args, kwargs)
        return launch(self, args, kwargs)
