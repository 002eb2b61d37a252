"""CAPACITY over the whole program: tiles that are alive at one instruction must fit on the chip together.

A refusal has to be sure, so whatever a compiler may do about a tile is taken to be done. The blocks of a block tensor
go out to HBM and come back (measured kernels do that by gigabytes), so of one only what an instruction touches counts.
A tile that is loaded once need not be there before its first use. Two tiles in PSUM share a bank when both are smaller
than one. Tiles placed by hand are the kernel's own business."""

import math

from .context import fail
from .limits import PSUM_BANK_BYTES, PSUM_BYTES, SBUF_BYTES, SBUF_RESERVED_BYTES
from .nodes import Access, Alloc, Buffer, If, Loop, Op
from .variables import Names

_MEMORY = {Buffer.SBUF: ("sbuf", SBUF_BYTES + SBUF_RESERVED_BYTES), Buffer.PSUM: ("psum", PSUM_BYTES)}


def check_residence(trace):
    """@raises CAPACITY naming the instruction and its largest tiles"""
    tiles = [b for b in trace.buffers if b.on_chip and b.root is b]
    if trace.direct_allocation or not _worth_a_look(tiles):
        return
    survey = _Survey(trace.body)
    for kind, (memory, limit) in _MEMORY.items():
        worst = survey.worst(kind, limit)
        if worst is not None:
            _refuse(trace, memory, limit, *worst)


def tile_bytes(buffer, shape=None):
    """A partition's, of one block. @param shape of its free axes, where an instruction touches fewer"""
    size = buffer.dtype.size * math.prod(buffer.shape[buffer.pdim + 1 :] if shape is None else shape)
    whole = buffer.kind == Buffer.PSUM and size > PSUM_BANK_BYTES
    return -(-size // PSUM_BANK_BYTES) * PSUM_BANK_BYTES if whole else size


def _worth_a_look(tiles):
    return any(sum(tile_bytes(b) for b in tiles if b.kind == kind) > limit for kind, (_, limit) in _MEMORY.items())


class _Survey:
    """Where each tile is used. Positions count operations; a loop is the span of positions of its body."""

    def __init__(self, body):
        self.lines, self.uses, self.homes, self.blocks = [], {}, {}, []
        self._walk(body, ())

    def _walk(self, nodes, loops):
        for node in nodes:
            kind = type(node)
            if kind is Op:
                self._operation(node, loops)
            elif kind is Loop:
                span = [len(self.lines), None]
                self._walk(node.body, loops + (span,))
                span[1] = len(self.lines) - 1
            elif kind is If:
                self._walk(node.then, loops)
                self._walk(node.orelse, loops)
            elif kind is Alloc:
                self.homes[node.buffer.root] = len(loops)

    def _operation(self, op, loops):
        here, touched = len(self.lines), {}
        self.lines.append(op.line)
        # Reads first: what an operation accumulates into, it reads.
        for access, reads in _accesses(op):
            root = access.buffer.root
            if not root.on_chip:
                continue
            if root.pdim:
                touched[root] = max(touched.get(root, 0), _bytes_touched(access, op.shape))
            loaded = op.instr == "load" and not reads and not op.mask
            self.uses.setdefault(root, []).append((here, reads, loaded, loops))
        self.blocks.append(touched)

    def interval(self, root):
        """First and last position where the tile holds something that is still wanted."""
        uses, home = self.uses[root], self.homes.get(root, 0)
        first, last = uses[0][0], uses[-1][0]
        if uses[0][2] and not any(loaded for _, _, loaded, _ in uses[1:]) and len(uses) > 1:
            first = uses[1][0]  # loaded once: it may arrive as late as its first use
        seen = set()
        for _, reads, _, loops in uses:
            for span in loops[home:]:
                if id(span) in seen:
                    continue
                seen.add(id(span))
                if reads:  # what the loop reads first comes from before it, or from its former trip
                    first, last = min(first, span[0]), max(last, span[1])
        return first, last

    def worst(self, kind, limit):
        """(position, [(bytes, tile)]) of the operation that wants most, None where all fit."""
        changes = [[] for _ in range(len(self.lines) + 1)]  # tiles that come and go before each position
        for root in self.uses:
            if root.kind == kind and not root.pdim:
                first, last = self.interval(root)
                changes[first].append((root, True))
                changes[last + 1].append((root, False))
        alive, most, at = {}, limit, None
        total = 0
        for here, touched in enumerate(self.blocks):
            for root, comes in changes[here]:
                size = tile_bytes(root)
                total += size if comes else -size
                if comes:
                    alive[root] = size
                else:
                    del alive[root]
            blocks = {root: size for root, size in touched.items() if root.kind == kind}
            wanted = total + sum(blocks.values())
            if wanted > most:
                most, at = wanted, (here, {**alive, **blocks})
        if at is None:
            return None
        return self.lines[at[0]], sorted(((size, root) for root, size in at[1].items()), key=lambda p: -p[0])


def _accesses(op):
    """(access, is it read) of an operation: sources first."""
    for source in op.sources:
        if type(source) is Access:
            yield source, True
            if source.dyn is not None:
                yield source.dyn[1], True
    if op.tag == Op.MATMUL:
        for side in op.extra:
            yield side, True
    if op.dst is not None:
        yield op.dst, op.accumulates
    if op.tag == Op.SPECIAL:
        for destination in op.extra[1]:
            yield destination, False


def _bytes_touched(access, space):
    """Of one block's partition: what the axes that walk over its free dimensions reach."""
    buffer = access.buffer
    walked = {k for d in access.dims[buffer.pdim + 1 :] for k, slot in enumerate(d.slots) if slot}
    return min(tile_bytes(buffer), tile_bytes(buffer, [space[k] for k in walked]))


def _refuse(trace, memory, limit, line, tiles):
    names, total = Names(trace, trace.buffers), sum(size for size, _ in tiles)
    shown = [
        (
            (names.of_buffer(root).decode() or "a temporary"),
            f"{list(root.shape)} {root.dtype}, {size} bytes a partition (line {root.line})",
        )
        for size, root in tiles[:5]
    ]
    if len(tiles) > 5:
        shown.append(("and", f"{len(tiles) - 5} more, {sum(size for size, _ in tiles[5:])} bytes"))
    fail(
        "CAPACITY",
        f"{len(tiles)} tiles alive at once need {total} bytes a partition of {memory}",
        operands=shown,
        rule=f"{memory} has {limit} bytes a partition ({limit // 1024} KiB"
        + (", 8 banks of 2 KiB)" if memory == "psum" else ")"),
        fix="split the free axis so that fewer bytes are alive at once, and store a result before the next is made",
        line=line,
    )
