"""Sizes that the reader of programs refuses (runner/nkisim/program/program.hpp), told here with the line and a way out."""

from . import context
from .nodes import If, Loop, Op

MAX_EXECUTED, MAX_ELEMENTS = 100_000_000, 10**13
MAX_PROGRAM_BYTES = 8 << 20
HBM_BYTES = 16 << 30  # a core's half of the chip's 32 GiB
MAX_TENSOR_BYTES = 1 << 62  # block dimensions are storage only when touched, but they are counted in 64 bits


def check_tensor_bytes(api, shape, dtype, memory, on_chip):
    """Declared sizes of on-chip block tensors are legal up to what can be counted; an HBM tensor must fit into HBM."""
    size, limit = dtype.size, MAX_TENSOR_BYTES if on_chip else HBM_BYTES
    for n in shape:
        size *= n
    if size > limit:
        context.fail(
            "CAPACITY",
            f"{api}: a tensor of {list(shape)} {dtype} in {memory} needs {size} bytes",
            rule="a tensor has at most 2^62 bytes" if on_chip else f"a core has {HBM_BYTES} bytes of HBM (16 GiB)",
            fix="declare only the blocks that are used" if on_chip else "declare the size of the result, from x.shape",
        )


def check_cost(trace):
    """@raises CAPACITY when one run would execute more than an engine accepts"""
    times = 1
    for n in trace.grid:
        times *= n
    _Cost().block(trace.body, times)


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
                points = times
                for n in node.shape:
                    points *= n
                self.elements += points
            if self.executed > MAX_EXECUTED or self.elements > MAX_ELEMENTS:
                self._fail(node.line)

    def _fail(self, line):
        many = self.executed > MAX_EXECUTED
        what = f"executes {self.executed} instructions" if many else f"computes {self.elements} elements"
        context.fail(
            "CAPACITY",
            f"the kernel {what} up to here",
            line=line,
            rule=f"at most {MAX_EXECUTED} instructions and {MAX_ELEMENTS:.0e} elements in one run, over all trips and programs",
            fix="work on larger tiles (128 partitions, 512 columns and more a call) in fewer trips",
        )


def check_bytes(data, buffers):
    """@raises CAPACITY for a program that its reader would not take"""
    if len(data) <= MAX_PROGRAM_BYTES:
        return
    constants = sum(len(b.data) for b in buffers)
    baked = 2 * constants > len(data)
    context.fail(
        "CAPACITY",
        f"the program has {len(data)} bytes, {constants} of them constants",
        line=0,
        rule=f"at most {MAX_PROGRAM_BYTES} bytes (8 MiB)",
        fix="compute the constants from nisa.iota, or load them from an argument"
        if baked
        else "use nl.affine_range or nl.sequential_range in place of nl.static_range and Python loops",
    )
