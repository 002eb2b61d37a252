"""CAPACITY over the whole program: what is alive at one instruction must fit on the chip together.

A refusal has to be sure, so whatever a compiler may do about a tile is taken to be done. The blocks of a block tensor
go out to HBM and come back (measured kernels do that by gigabytes) and what was loaded may be loaded again, so of both
only what an instruction touches counts. An element-wise result may take the place of an operand that is wanted no
more, but the operands and the result of one instruction must fit beside one another. Tiles placed by hand are the
kernel's own business."""

import math

from .context import fail
from .limits import PSUM_BANK_BYTES, PSUM_BYTES, SBUF_BYTES, SBUF_RESERVED_BYTES
from .nodes import Access, Alloc, Buffer, If, Loop, Op
from .variables import Names

_MEMORY = {Buffer.SBUF: ("sbuf", SBUF_BYTES + SBUF_RESERVED_BYTES), Buffer.PSUM: ("psum", PSUM_BYTES)}


def check_residence(trace):
    """@raises CAPACITY naming the instruction and its largest tiles"""
    tiles = [b for b in trace.buffers if b.on_chip and b.root is b]
    crowded = [kind for kind, (_, limit) in _MEMORY.items() if _all_bytes(tiles, kind) > limit]
    if trace.direct_allocation or not crowded:
        return
    survey = _Survey(trace.body)
    for kind in crowded:
        memory, limit = _MEMORY[kind]
        worst = survey.worst(kind, limit)
        if worst is not None:
            _refuse(trace, memory, limit, *worst)


def tile_bytes(buffer, shape=None):
    """A partition's, of one block. @param shape of its free axes, where an instruction touches fewer"""
    size = buffer.dtype.size * math.prod(buffer.shape[buffer.pdim + 1 :] if shape is None else shape)
    whole = buffer.kind == Buffer.PSUM and size > PSUM_BANK_BYTES
    return -(-size // PSUM_BANK_BYTES) * PSUM_BANK_BYTES if whole else size


def _all_bytes(tiles, kind):
    return sum(tile_bytes(b) for b in tiles if b.kind == kind)


class _Survey:
    """Where each tile is used. Positions count operations; a loop is the span of positions of its body."""

    def __init__(self, body):
        self.ops, self.uses, self.homes, self.touched = [], {}, {}, []
        self.written, self.stored = set(), set()  # roots; stored: something other than one load writes them
        self._walk(body, ())

    def _walk(self, nodes, loops):
        for node in nodes:
            kind = type(node)
            if kind is Op:
                self._operation(node, loops)
            elif kind is Loop:
                span = [len(self.ops), None]
                self._walk(node.body, loops + (span,))
                span[1] = len(self.ops) - 1
            elif kind is If:
                self._walk(node.then, loops)
                self._walk(node.orelse, loops)
            elif kind is Alloc:
                self.homes[node.buffer.root] = len(loops)

    def _operation(self, op, loops):
        here, touched = len(self.ops), {}
        self.ops.append(op)
        for access, reads, writes in _accesses(op):
            root = access.buffer.root
            if not root.on_chip:
                continue
            size = _bytes_touched(access, op.shape) if root.pdim else tile_bytes(root)
            touched[root] = max(touched.get(root, 0), size)
            if writes and (reads or op.instr != "load" or root in self.written):
                self.stored.add(root)
            if writes:
                self.written.add(root)
            self.uses.setdefault(root, []).append((here, reads, loops))
        self.touched.append(touched)

    def _stays(self, root):
        """Must the tile be there between its uses?"""
        return not root.pdim and root in self.stored

    def interval(self, root):
        """First and last position where the tile holds something that is still wanted."""
        uses, home = self.uses[root], self.homes.get(root, 0)
        first, last = uses[0][0], uses[-1][0]
        seen = set()
        for _, reads, loops in uses:
            for span in loops[home:]:
                if id(span) not in seen and reads:  # it comes from before the loop, or from a former trip
                    first, last = min(first, span[0]), max(last, span[1])
                seen.add(id(span))
        return first, last

    def worst(self, kind, limit):
        """(line, [(bytes, tile)]) of the operation that wants most, None where all fit."""
        intervals = {r: self.interval(r) for r in self.uses if r.kind == kind and self._stays(r)}
        comes, goes = {}, {}
        for root, (first, last) in intervals.items():
            comes.setdefault(first, []).append(root)
            goes.setdefault(last, []).append(root)
        alive, total, most, at = {}, 0, limit, None
        for here, touched in enumerate(self.touched):
            for root in comes.get(here, ()):
                alive[root] = tile_bytes(root)
                total += alive[root]
            guests = {root: size for root, size in touched.items() if root.kind == kind and root not in alive}
            if total + sum(guests.values()) > most:  # at most so much is wanted
                mine = {root: size for root, size in touched.items() if root.kind == kind}
                wanted = total + sum(guests.values()) - self._reused(here, mine, intervals)
                if max(wanted, sum(mine.values())) > most:
                    most = max(wanted, sum(mine.values()))
                    at = here, mine if sum(mine.values()) > wanted else {**alive, **guests}
            for root in goes.get(here, ()):
                total -= alive.pop(root)
        return None if at is None else (self.ops[at[0]].line, sorted(at[1].items(), key=lambda p: -p[1]))

    def _reused(self, here, mine, intervals):
        """Bytes of a new result that fit where an operand was."""
        op = self.ops[here]
        new = op.dst.buffer.root if op.tag == Op.MAP else None
        if new not in mine or intervals.get(new, (-1,))[0] != here:
            return 0
        free = [size for root, size in mine.items() if root is not new and intervals.get(root, (0, here))[1] == here]
        return mine[new] if any(size >= mine[new] for size in free) else 0


def _accesses(op):
    """(access, is it read, is it written) of an operation: sources first. What accumulates does both."""
    for source in op.sources:
        if type(source) is Access:
            yield source, True, False
            if source.dyn is not None:
                yield source.dyn[1], True, False
    if op.tag == Op.MATMUL:
        for side in op.extra:
            yield side, True, False
    if op.dst is not None:
        yield op.dst, op.accumulates, True
    if op.tag == Op.SPECIAL:
        for destination in op.extra[1]:
            yield destination, False, True


def _bytes_touched(access, space):
    """Of one block's partition: what the axes that walk over its free dimensions reach."""
    buffer = access.buffer
    walked = {k for d in access.dims[buffer.pdim + 1 :] for k, slot in enumerate(d.slots) if slot}
    return min(tile_bytes(buffer), tile_bytes(buffer, [space[k] for k in walked]))


def _refuse(trace, memory, limit, line, tiles):
    names, total = Names(trace, trace.buffers), sum(size for _, size in tiles)
    shown = [
        (
            (names.of_buffer(root).decode() or "a temporary"),
            f"{list(root.shape)} {root.dtype}, {size} bytes a partition (line {root.line})",
        )
        for root, size in tiles[:5]
    ]
    if len(tiles) > 5:
        shown.append(("and", f"{len(tiles) - 5} more, {sum(size for _, size in tiles[5:])} bytes"))
    fail(
        "CAPACITY",
        f"{len(tiles)} tiles alive at once need {total} bytes a partition of {memory}",
        operands=shown,
        rule=f"{memory} has {limit} bytes a partition ({limit // 1024} KiB"
        + (", 8 banks of 2 KiB)" if memory == "psum" else ")"),
        fix="split the free axis so that fewer bytes are alive at once, and store a result before the next is made",
        line=line,
    )
