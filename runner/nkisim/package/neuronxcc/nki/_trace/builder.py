"""The trace: regions, buffers, atoms and nodes of one kernel while its Python runs."""

from . import context
from .affine import Aff, Atom
from .conditions import Cond
from .limits import MAX_ATOMS, MAX_BUFFERS, MAX_NESTING, MAX_NODES, MAX_TRIPS
from .nodes import Alloc, Buffer, If, Loop, Region
from .variables import loop_name


class Options:
    """What the trace assumes. sdk: (major, minor); legacy_outputs: drop-in use, where parameters may be stored to and
    become outputs, and what is returned may be in private HBM or a list; bf16_as_fp32: tiles of bfloat16 are never
    rounded. strict: the documents of 2.24 to the letter, where later compilers are known to take more."""

    __slots__ = ("sdk", "target", "strict_paper_names", "legacy_outputs", "bf16_as_fp32", "strict")

    def __init__(
        self,
        sdk="2.24",
        target="trn1",
        strict_paper_names=False,
        legacy_outputs=False,
        bf16_as_fp32=False,
        strict="",
    ):
        self.strict = bool(strict)
        self.bf16_as_fp32 = bf16_as_fp32
        numbers = [int(p) for p in str(sdk).split(".")[:2] if p.isdigit()]
        self.sdk = tuple(numbers) if len(numbers) == 2 else (2, 24)
        self.target, self.strict_paper_names, self.legacy_outputs = target, bool(strict_paper_names), legacy_outputs


class Trace:
    """One recording. `files` are the names whose lines count as the kernel's."""

    def __init__(self, options, grid, files, file_label="kernel.py"):
        self.options, self.grid, self.files, self.file_label = options, tuple(grid), set(files), file_label
        self.atoms, self.buffers, self.body, self.params = [], [], [], []
        self.warnings, self.error, self.unknown = [], None, []
        self.region = self.top = Region("kernel", self.body, None, None)
        self.loops = self.nodes = 0
        self.depth = 0  # of traced calls; shared_hbm must be made at depth 1
        self.pid_atoms = {}
        self.seed, self.random_calls = (0, None), 0  # the seed and the region that set it
        self.mutable = []  # buffers of mutable parameters
        self.direct_allocation = False
        self.clipped = ""  # the last slice that was cut at a tensor's edge
        self.accumulators = None  # of the scalar engine, once a call uses them

    # -- symbols
    def add_atom(self, atom):
        if len(self.atoms) >= MAX_ATOMS:
            self._too_many(f"{MAX_ATOMS} loops and index divisions")
        atom.number = len(self.atoms)
        self.atoms.append(atom)
        return atom

    def program_id(self, axis):
        if axis not in self.pid_atoms:
            self.pid_atoms[axis] = self.add_atom(
                Atom(Atom.PROGRAM_ID, axis, 0, self.grid[axis] - 1, f"program_id({axis})")
            )
        return Aff(0, {self.pid_atoms[axis]: 1})

    def first_program(self, axes):
        """The condition that holds in the first program along these axes of the grid: the sum of its ids is 0."""
        ids = Aff(0)
        for axis in axes:
            ids = ids + self.program_id(axis)
        return ((Cond.ZERO, ids),)

    # -- nodes
    def emit(self, node):
        self.nodes += 1
        if self.nodes > MAX_NODES:
            self._too_many(f"{MAX_NODES} instructions")
        self.region.block.append(node)

    @staticmethod
    def _too_many(what):
        context.fail(
            "CAPACITY",
            f"the kernel unrolls to more than {what}",
            rule=f"at most {what} in one program",
            fix="use nl.affine_range or nl.sequential_range in place of nl.static_range and Python loops",
        )

    def add_buffer(self, kind, dtype, name, shape, pdim, memory, fill=None, alloc=True):
        line = context.kernel_line()
        buffer = Buffer(kind, dtype, name, tuple(shape), pdim, memory, line, self.region)
        self.keep_buffer(buffer)
        if alloc:
            buffer.filled = fill is not None
            self.emit(Alloc(line, buffer, fill))
        return buffer

    def keep_buffer(self, buffer):
        if len(self.buffers) >= MAX_BUFFERS:
            self._too_many(f"{MAX_BUFFERS} tiles")
        self.buffers.append(buffer)

    # -- regions
    def open_region(self, kind, block, node, conditions=(), facts=()):
        self.region = Region(kind, block, node, self.region, conditions, facts)
        if sum(1 for _ in self.enclosing()) > MAX_NESTING:
            context.fail(
                "CAPACITY",
                f"loops and branches are nested more than {MAX_NESTING} deep",
                rule=f"nesting {MAX_NESTING}",
                fix="flatten the loops",
            )
        return self.region

    def close_region(self, region):
        if self.region is not region:
            inner = self.region
            context.fail(
                "CONTROL_FLOW",
                f"a {inner.kind} at line {inner.node.line if inner.node else 0} was left by break or return",
                rule="a loop with a symbolic index runs all its trips",
                fix="use nl.static_range, or guard the body with `if`",
            )
        region.open = False
        self.region = region.parent

    def open_loop(self, sequential, start, trips, step):
        if max(abs(start), trips, abs(step)) > MAX_TRIPS:
            context.fail(
                "CAPACITY",
                f"a loop of {trips} trips",
                rule=f"trip counts, starts and steps are at most {MAX_TRIPS}",
                fix="count tiles, not elements: nl.affine_range(x.shape[0] // 128)",
            )
        node = Loop(context.kernel_line(), self.loops, sequential, start, trips, step)
        self.loops += 1
        self.emit(node)
        region = self.open_region("loop", node.body, node)
        node.atom = self.add_atom(
            Atom(Atom.LOOP, node.number, 0, trips - 1, loop_name(self, node.line) or f"i{node.number}", region=region)
        )
        return node, region

    def open_if(self, items):
        node = If(context.kernel_line(), items)
        self.emit(node)
        return node

    def enclosing(self, upto=None):
        """Regions from the innermost outwards, down to (without) `upto`."""
        region = self.region
        while region is not None and region is not upto:
            yield region
            region = region.parent

    @property
    def in_symbolic_region(self):
        return self.region is not self.top
