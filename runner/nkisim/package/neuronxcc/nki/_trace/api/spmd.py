"""nl.all_reduce over programs, launch-grid dimensions, the index grids of matmul tiles."""

from .. import checks, context
from ..affine import Aff, Atom, as_int
from ..context import fail
from ..emit import emit_map, out_tile
from ..names import REGISTRY, api
from .nl_index import mgrid
from .nl_reduce import reduction_of


def spmd_dim(*dims):
    """A launch-grid dimension made of sub-dimensions; one core runs them all, so only the product matters."""
    size = 1
    for d in dims:
        size *= int(d)
    return size


def nc(n):
    """A dimension over n cores. NeuronCore-v2 runs the programs of a launch one after another on one core."""
    if int(n) < 1:
        raise ValueError(f"nl.nc({n}): at least one core")
    return int(n)


REGISTRY["nl"].update(spmd_dim=spmd_dim, nc=nc)


@api("nl")
def gemm_grid():
    return mgrid[0:128, 0:512]


@api("nl")
def gemm_stationary_grid():
    return mgrid[0:128, 0:128]


def _axes(label, x, program_axes):
    trace, out = context.current(), []
    for axis in program_axes if isinstance(program_axes, (tuple, list)) else [program_axes]:
        atoms = list(axis.terms) if isinstance(axis, Aff) else []
        if len(atoms) == 1 and atoms[0].kind == Atom.PROGRAM_ID:
            axis = atoms[0].key
        value = as_int(axis)
        if value is None or not 0 <= value < max(1, len(trace.grid)):
            fail(
                "BAD_SIGNATURE",
                f"{label}: program axis {axis!r}",
                operands=[("x", x)],
                rule="axes of the launch grid (or nl.program_id of one)",
                fix="program_axes=(0,)",
                kind=ValueError,
            )
        out.append(value)
    return [a for a in out if a < len(trace.grid) and trace.grid[a] > 1]


@api("nl")
def all_reduce(x, op, program_axes, *, dtype=None, mask=None, parallel_reduce=True, asynchronous=False):
    label = "nl.all_reduce"
    checks.check_tile(x, label, "x")
    name = reduction_of(label, op, x)
    axes = _axes(label, x, program_axes)
    out = out_tile(x, dtype, label)
    emit_map(out, [x], [], "part_of_former" if axes else "tensor_copy", "unknown", mask, label)
    if axes:
        out.buffer_.all_reduce = (name, axes)
    return out
