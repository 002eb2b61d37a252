"""nl: index grids, loops, the SPMD grid, constants of the machine."""

from .. import context
from ..affine import Aff, arange as make_arange, as_int
from ..context import fail
from ..indexing import DynSlice, Grid
from ..limits import BN_STATS_FMAX, MOVING_FMAX, PMAX, PSUM_BANK_BYTES, SBUF_BYTES, STATIONARY_FMAX
from ..loops import AffineRange, SequentialRange, moving_bounds, static
from ..names import api, visible


def _integers(label, args, most=3):
    values = [as_int(a) for a in args]
    if not 1 <= len(args) <= most or None in values:
        fail(
            "BAD_SIGNATURE",
            f"{label}: takes 1 to {most} compile-time integers, got {', '.join(map(str, args)) or 'none'}",
            rule="sizes are compile-time integers",
            fix=f"{label}(n) with n from x.shape; shift a grid with i * 128 + {label}(128)",
            kind=TypeError,
        )
    return values


def _three(values):
    """(start, stop, step), as Python's range reads one to three numbers."""
    plain = (0, values[0], 1) if len(values) == 1 else (*values, 1)
    return plain[:3]


@api("nl", host=True)  # a public builder of kernels makes its grids before it decorates them, and ran on Trainium
def arange(*args):
    values = _integers("nl.arange", args)
    start, stop, step = _three(values)
    if step <= 0 or stop <= start:
        fail(
            "INDEXING",
            f"nl.arange({', '.join(map(str, values))}) is empty or runs backwards",
            rule="start < stop, step > 0",
            fix="c - nl.arange(n) runs backwards",
        )
    return make_arange(start, stop, step)


class Mgrid:
    """nl.mgrid"""

    def __repr__(self):
        return "nl.mgrid"

    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        bounds = []
        for k in key:
            start, stop = (
                (as_int(k.start) if k.start is not None else 0, as_int(k.stop))
                if isinstance(k, slice)
                else (None, None)
            )
            step = 1 if not isinstance(k, slice) or k.step is None else as_int(k.step)
            if start is None or stop is None or stop <= start or not step or step <= 0:
                fail(
                    "INDEXING",
                    f"nl.mgrid[{k}]",
                    rule="nl.mgrid takes slices with compile-time bounds",
                    fix="nl.mgrid[0:128, 0:512]",
                )
            bounds.append((start, stop, step))
        shape = tuple(-(-(b - a) // s) for a, b, s in bounds)
        parts = []
        for axis, (start, _, step) in enumerate(bounds):
            slots = tuple(step if j == axis and n > 1 else 0 for j, n in enumerate(shape))
            parts.append(Aff(start, {}, slots, shape))
        return Grid(parts)


mgrid = Mgrid()


@api("nl", host=True)
def ds(start, size):
    return DynSlice(start, size)


@api("nl")
def affine_range(*args, **hints):
    return AffineRange(*_range_arguments("nl.affine_range", args))


@api("nl")
def sequential_range(*args, **hints):
    return SequentialRange(*_range_arguments("nl.sequential_range", args))


@api("nl")
def static_range(*args, **hints):
    return static(*_range_arguments("nl.static_range", args))


def _range_arguments(label, args):
    if any(isinstance(a, Aff) for a in args) and 1 <= len(args) <= 3:
        return moving_bounds(label, tuple(args))
    start, stop, step = _three(_integers(label, args))
    if step == 0:
        fail("BAD_SIGNATURE", f"{label}: step 0", rule="step is not zero", fix="step >= 1", kind=ValueError)
    return start, stop, step


@api("nl")
def program_id(axis):
    trace = context.current()
    axis = as_int(axis)
    if axis is None or not 0 <= axis < len(trace.grid):
        fail(
            "BAD_SIGNATURE",
            f"nl.program_id({axis}) in a kernel launched with a grid of {len(trace.grid)} axes",
            rule="axis is below the rank of the launch grid",
            fix="set GRID = (n,) in the file, or loop with nl.affine_range",
            kind=ValueError,
        )
    return trace.program_id(axis)


@api("nl")
def num_programs(axes=None):
    grid = context.current().grid
    axes = range(len(grid)) if axes is None else axes if isinstance(axes, (tuple, list)) else [axes]
    n = 1
    for a in axes:
        if not 0 <= a < len(grid):
            fail(
                "BAD_SIGNATURE",
                f"nl.num_programs({a}) in a grid of {len(grid)} axes",
                rule="axes of the launch grid",
                fix="set GRID",
                kind=ValueError,
            )
        n *= grid[a]
    return n


@api("nl")
def program_ndim():
    return len(context.current().grid)


class TileSize:
    """nl.tile_size: sizes of NeuronCore-v2."""

    pmax = PMAX
    psum_fmax = PSUM_BANK_BYTES // 4  # float32 elements
    gemm_stationary_fmax = STATIONARY_FMAX
    gemm_moving_fmax = MOVING_FMAX
    bn_stats_fmax = BN_STATS_FMAX
    psum_min_align = 4
    sbuf_min_align = 1

    def __repr__(self):
        return "nl.tile_size"

    def __getattr__(self, name):
        late = name == "total_available_sbuf_size"
        if late and visible("nl.tile_size", name):
            return SBUF_BYTES
        raise context.build_error(
            "UNKNOWN_API",
            f"nl.tile_size has no attribute '{name}'",
            rule="it exists since SDK 2.26" if late else "only documented names exist",
            fix="pmax (128), psum_fmax (512), gemm_stationary_fmax (128), gemm_moving_fmax (512), bn_stats_fmax (512)",
        )


tile_size = TileSize()
