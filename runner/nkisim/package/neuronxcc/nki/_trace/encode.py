"""The binary form of a trace: docs/formats/program.md."""

import struct

from .affine import Aff, Atom
from .nodes import Access, Alloc, Buffer, If, Loop, Op
from .tables import ENGINE, INSTR, NODE, SOURCE
from .variables import Names

VERSION = 2


_SMALL = [bytes((n,)) for n in range(128)]


def _u(n):
    if n < 128:
        return _SMALL[n]
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def _i(n):
    return _u(n << 1 if n >= 0 else (-n << 1) - 1)


_f64 = struct.Struct("<d").pack
_ACCESS, _CONSTANT, _INDEX = (_SMALL[SOURCE[name]] for name in ("access", "constant", "index"))
_LOOP, _BRANCH, _ALLOC = (_SMALL[NODE[name]] for name in ("loop", "branch", "alloc"))


def _blob(data):
    return _u(len(data)) + data


_known_counts = {(): b"\0"}  # of shapes


def _counts(values):
    values = tuple(values)
    found = _known_counts.get(values)
    if found is None:
        found = _known_counts[values] = _u(len(values)) + b"".join([_u(v) for v in values])
    return found


def _aff(a):
    out = _i(a.c) + _u(len(a.terms))
    for atom, k in a.terms.items():
        out += _u(atom.number) + _i(k)
    return out


class Writer:
    """The body of a program. Views repeat (whole tiles of one shape are the same objects), so their bytes are kept by
    identity: everything that is written is alive until the end."""

    def __init__(self, names):
        self.out, self.names = bytearray(), names
        self._indices, self._dims, self._heads, self._steps = {}, {}, {}, {}

    # -- parts
    def index(self, a, rank):
        key = (id(a), rank)
        found = self._indices.get(key)
        if found is None:
            slots = a.slots if len(a.slots) == rank else (0,) * rank
            found = self._indices[key] = _aff(a) + b"".join([_i(d) for d in slots])
        return found

    def access(self, access, rank):
        key = (id(access.dims), rank)
        dims = self._dims.get(key)
        if dims is None:
            dims = self._dims[key] = b"".join([self.index(a, rank) for a in access.dims])
        if access.dyn is None:
            return _u(access.buffer.number) + dims + b"\0"
        dim, tile, skip = access.dyn
        return _u(access.buffer.number) + dims + _u(dim + 1) + self.access(tile, rank) + (b"\1" if skip else b"\0")

    def source(self, s, rank):
        if type(s) is Access:
            return _ACCESS + self.access(s, rank)
        if isinstance(s, Aff):
            return _INDEX + self.index(s, rank)
        return _CONSTANT + _f64(s)

    def sources(self, op, rank):
        return b"".join([self.source(s, rank) for s in op.sources])

    def conditions(self, items, rank):
        return _u(len(items)) + b"".join([_SMALL[kind] + self.index(e, rank) for kind, e in items])

    def steps(self, steps):
        key = tuple(steps)
        found = self._steps.get(key)
        if found is None:
            found = self._steps[key] = _u(len(steps)) + b"".join([_u(n) for step in steps for n in step])
        return found

    def head(self, op, rank):
        """Instruction, engine, shape and mask."""
        key = (op.instr, op.engine, op.shape)
        found = self._heads.get(key)
        if found is None:
            found = self._heads[key] = _u(INSTR[op.instr]) + _SMALL[ENGINE[op.engine]] + _counts(op.shape)
        return found + (self.conditions(op.mask, rank) if op.mask else b"\0")

    # -- nodes
    def block(self, nodes):
        self.out += _u(len(nodes))
        for node in nodes:
            self.node(node)

    def node(self, node):
        kind = type(node)
        if kind is Op:
            self.out += _SMALL[node.tag] + _u(node.line) + self.op(node)
        elif kind is Alloc:
            fill = b"\0" if node.fill is None else b"\1" + _f64(node.fill)
            self.out += _ALLOC + _u(node.line) + _u(node.buffer.number) + fill
        elif kind is Loop:
            self.out += (
                _LOOP
                + _u(node.line)
                + _u(node.number)
                + _blob(self.names.of_loop(node.line))
                + (b"\1" if node.sequential else b"\0")
                + _i(node.start)
                + _u(node.trips)
                + _i(node.step)
            )
            self.block(node.body)
        elif kind is If:
            self.out += _BRANCH + _u(node.line) + self.conditions(node.items, 0)
            self.block(node.then)
            self.block(node.orelse)

    def op(self, op):
        rank = len(op.shape)
        out, tag = self.head(op, rank), op.tag
        if tag != Op.SPECIAL:
            out += self.access(op.dst, rank)
        if tag == Op.MAP:
            return (
                out
                + bytes((op.work, op.accumulate))
                + _counts(op.loops)
                + _u(len(op.sources))
                + self.sources(op, rank)
                + self.steps(op.steps)
            )
        if tag == Op.FOLD:
            return (
                out
                + bytes((op.work, op.function, 1 if op.negate else 0, op.accumulate))
                + _counts(op.loops)
                + _u(len(op.sources))
                + self.sources(op, rank)
                + self.steps(op.steps)
            )
        if tag == Op.MATMUL:
            return out + b"".join([self.access(side, rank) for side in op.extra]) + bytes((op.accumulate,))
        if tag == Op.SCAN:
            return out + bytes(op.extra[:2]) + self.sources(op, rank)
        kind, destinations, attributes = op.extra
        return (
            out
            + _SMALL[kind]
            + _u(len(destinations))
            + b"".join([self.access(d, rank) for d in destinations])
            + _u(len(op.sources))
            + self.sources(op, rank)
            + _u(len(attributes))
            + b"".join([_f64(x) for x in attributes])
        )


def encode(trace, entry, outputs, returns_tuple, params, tracer, used):
    """@param outputs: buffers in order; used: the buffers that operations access. @returns the bytes of the program."""
    buffers = _number(trace, {*used, *params, *outputs})
    names = Names(trace, buffers)
    w = Writer(names)
    out = w.out
    out += (
        b"NKIPROG\0"
        + _u(VERSION)
        + _blob(entry.encode())
        + _blob(tracer.encode())
        + _counts(trace.grid)
        + _u(len(trace.atoms))
    )
    for atom in trace.atoms:
        out += _SMALL[atom.kind]
        out += _u(atom.key) if atom.kind in (Atom.LOOP, Atom.PROGRAM_ID) else _aff(atom.operand) + _u(atom.divisor)
    out += _u(len(buffers))
    for b in buffers:
        out += (
            bytes((b.kind, b.dtype.number))
            + _blob(names.of_buffer(b))
            + _counts(b.shape)
            + _u(b.pdim)
            + _u(0 if b.alias is None else b.alias.number + 1)
            + _u(b.line)
        )
        if b.kind == Buffer.CONSTANT:
            out += _blob(b.data)
    out += (
        _counts([b.number for b in outputs]) + (b"\1" if returns_tuple else b"\0") + _counts([b.number for b in params])
    )
    w.block(trace.body)
    return bytes(out)


def _number(trace, needed):
    """Buffers that the program needs, numbered; what an alias stands for comes before it."""
    out = []
    for b in trace.buffers:
        if b in needed:
            chain = [b]
            while chain[-1].alias is not None:
                chain.append(chain[-1].alias)
            for c in reversed(chain):
                if c.number < 0:
                    c.number = len(out)
                    out.append(c)
    return out
