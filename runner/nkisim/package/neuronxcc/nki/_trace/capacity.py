"""CAPACITY: sizes that no chip has or that the reader of programs refuses, told with the line and a way out."""

import math

from .context import fail
from .limits import (
    HBM_BYTES,
    MAX_ELEMENTS,
    MAX_EXECUTED,
    MAX_PROGRAM_BYTES,
    MAX_TENSOR_BYTES,
    PSUM_BYTES,
    SBUF_BYTES,
    SBUF_RESERVED_BYTES,
)
from .nodes import If, Loop, Op


def check_tensor_bytes(api, shape, dtype, memory, on_chip):
    """Declared sizes of on-chip block tensors are legal up to what can be counted; an HBM tensor must fit into HBM."""
    size, limit = dtype.size * math.prod(shape), MAX_TENSOR_BYTES if on_chip else HBM_BYTES
    if size > limit:
        fail(
            "CAPACITY",
            f"{api}: a tensor of {list(shape)} {dtype} in {memory} needs {size} bytes",
            rule="a tensor has at most 2^62 bytes" if on_chip else f"a core has {HBM_BYTES} bytes of HBM (16 GiB)",
            fix="declare only the blocks that are used" if on_chip else "declare the size of the result, from x.shape",
        )


def check_partition_bytes(api, shape, pdim, dtype, memory):
    """One tile must fit into a partition; declared totals of block tensors never matter."""
    size = dtype.size * math.prod(shape[pdim + 1 :])
    limit = PSUM_BYTES if memory == "psum" else SBUF_BYTES
    if size > limit:
        fail(
            "CAPACITY",
            f"{api}: a tile of {list(shape[pdim:])} {dtype} needs {size} bytes per partition",
            rule=f"psum has {limit} bytes per partition ({limit // 1024} KiB)"
            if memory == "psum"
            else f"one tile has at most {limit} bytes per partition ({limit // 1024} KiB): of sbuf's "
            f"{limit + SBUF_RESERVED_BYTES} the compiler keeps {SBUF_RESERVED_BYTES}",
            fix="split the free axes into smaller tiles"
            + (" (512 float32 elements are one PSUM bank)" if memory == "psum" else "")
            + (
                "; an output is created with buffer=nl.shared_hbm"
                if api in ("nl.ndarray", "nl.zeros", "nl.full")
                else ""
            ),
        )


def check_cost(trace):
    """@raises CAPACITY when one run would execute more than an engine accepts"""
    _Cost().block(trace.body, math.prod(trace.grid))


class _Cost:
    def __init__(self):
        self.executed = self.elements = 0

    def block(self, nodes, times):
        for node in nodes:
            self.executed += times
            kind = type(node)
            if kind is Loop:
                self.executed += times * node.trips
                self.block(node.body, times * node.trips)
            elif kind is If:
                self.block(node.then, times)
                self.block(node.orelse, times)
            elif kind is Op:
                self.elements += times * math.prod(node.shape)
            if self.executed > MAX_EXECUTED or self.elements > MAX_ELEMENTS:
                self._fail(node.line)

    def _fail(self, line):
        many = self.executed > MAX_EXECUTED
        what = f"executes {self.executed} instructions" if many else f"computes {self.elements} elements"
        fail(
            "CAPACITY",
            f"the kernel {what} up to here",
            line=line,
            rule=f"at most {MAX_EXECUTED} instructions and {MAX_ELEMENTS:.0e} elements in one run, over all trips and "
            "programs",
            fix="work on larger tiles (128 partitions, 512 columns and more a call) in fewer trips",
        )


def check_bytes(data, buffers):
    """@raises CAPACITY for a program that its reader would not take"""
    if len(data) <= MAX_PROGRAM_BYTES:
        return
    constants = sum(len(b.data) for b in buffers)
    baked = 2 * constants > len(data)
    fail(
        "CAPACITY",
        f"the program has {len(data)} bytes, {constants} of them constants",
        line=0,
        rule=f"at most {MAX_PROGRAM_BYTES} bytes (8 MiB)",
        fix="compute the constants from nisa.iota, or load them from an argument"
        if baked
        else "use nl.affine_range or nl.sequential_range in place of nl.static_range and Python loops",
    )
