"""The nodes of a program while it is recorded; docs/formats/program.md says what every field means."""

from .tables import BUFFER, NODE


NO_FUNCTION = 255  # an operation that accumulates nothing


class Buffer:
    """Storage. `region` is the region that allocated it; `root` the buffer that owns the bytes (see stand_for)."""

    __slots__ = (
        "kind",
        "dtype",
        "name",
        "shape",
        "pdim",
        "alias",
        "line",
        "data",
        "region",
        "written",
        "number",
        "memory",
        "filled",
        "from_transpose",
        "shared",
        "writes",
        "all_reduce",
        "root",
        "on_chip",
        "masks",
        "folded",
    )
    PARAM, OUTPUT, HBM, SBUF, PSUM, CONSTANT = (
        BUFFER[name] for name in ("param", "output", "hbm", "sbuf", "psum", "constant")
    )

    def __init__(self, kind, dtype, name, shape, pdim, memory, line, region):
        self.kind, self.dtype, self.name, self.shape, self.pdim, self.memory = kind, dtype, name, shape, pdim, memory
        self.line, self.region = line, region
        self.alias, self.data, self.number, self.writes = None, b"", -1, 0
        self.masks = ()  # of the operations that wrote it under one
        self.folded = 0  # how many more axes its first dimension stands for than one (see nl_create)
        self.all_reduce = None  # (function, program axes) of a value that other programs add to
        self.written = self.filled = self.from_transpose = self.shared = False
        self.root, self.on_chip = self, kind in (Buffer.SBUF, Buffer.PSUM)

    def stand_for(self, other):
        """Makes this an alias of `other`."""
        self.alias, self.root = other, other.root


class Access:
    """A strided view of a buffer over an operation's space: one Aff a buffer dimension."""

    __slots__ = ("buffer", "dims", "dyn")

    def __init__(self, buffer, dims, dyn=None):
        self.buffer, self.dims, self.dyn = buffer, dims, dyn  # dyn: (dimension, Access, skip out of bounds)

    def same(self, other):
        return (
            self.buffer is other.buffer
            and self.dyn is None
            and other.dyn is None
            and all(a.same(b) for a, b in zip(self.dims, other.dims))
        )


class Alloc:
    __slots__ = ("line", "buffer", "fill")

    def __init__(self, line, buffer, fill):
        self.line, self.buffer, self.fill = line, buffer, fill


class Loop:
    __slots__ = ("line", "number", "sequential", "start", "trips", "step", "body", "atom")

    def __init__(self, line, number, sequential, start, trips, step):
        self.line, self.number, self.sequential = line, number, sequential
        self.start, self.trips, self.step, self.body, self.atom = start, trips, step, [], None


class If:
    __slots__ = ("line", "items", "then", "orelse")

    def __init__(self, line, items):
        self.line, self.items, self.then, self.orelse = line, items, [], []


class Op:
    """map, fold, matmul, scan or special. Sources: Access, Aff or float."""

    __slots__ = (
        "line",
        "tag",
        "instr",
        "engine",
        "shape",
        "mask",
        "dst",
        "work",
        "accumulate",
        "loops",
        "sources",
        "steps",
        "function",
        "negate",
        "extra",
    )
    MAP, FOLD, MATMUL, SCAN, SPECIAL = (NODE[name] for name in ("map", "fold", "matmul", "scan", "special"))

    def __init__(
        self,
        tag,
        line,
        instr,
        engine,
        shape,
        mask,
        dst,
        sources=(),
        steps=(),
        work=0,
        accumulate=NO_FUNCTION,
        loops=(),
        function=0,
        negate=False,
        extra=None,
    ):
        self.tag, self.line, self.instr, self.engine, self.shape, self.mask, self.dst = (
            tag,
            line,
            instr,
            engine,
            shape,
            mask,
            dst,
        )
        self.sources, self.steps, self.work, self.accumulate, self.loops = (
            list(sources),
            list(steps),
            work,
            accumulate,
            list(loops),
        )
        self.function, self.negate, self.extra = function, negate, extra

    @property
    def accumulates(self):
        """Does it add to what its destination holds?"""
        if self.tag == Op.MATMUL:
            return self.accumulate == 1
        return self.tag in (Op.MAP, Op.FOLD) and self.accumulate != NO_FUNCTION


class Region:
    """A stretch of the program being recorded: the kernel body, a loop body or one side of a branch."""

    __slots__ = ("kind", "block", "node", "parent", "open", "conditions", "facts", "counters", "counts_trips")

    def __init__(self, kind, block, node, parent, conditions=(), facts=()):
        """conditions: what chooses this side; facts: what holds on it (nothing known when a conjunction failed)."""
        self.kind, self.block, self.node, self.parent, self.open = kind, block, node, parent, True
        self.conditions, self.facts = conditions, list(facts)
        self.counters = ()  # of a loop: Python numbers that its body reads and then changes
        self.counts_trips = False  # of a branch: it ends a loop whose trips an outer loop counts


def operations(block):
    """Every operation of a block and of the blocks in it, in order."""
    for node in block:
        kind = type(node)
        if kind is Op:
            yield node
        elif kind is Loop:
            yield from operations(node.body)
        elif kind is If:
            yield from operations(node.then)
            yield from operations(node.orelse)
