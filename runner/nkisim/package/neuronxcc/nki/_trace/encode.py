"""The binary form of a trace: docs/formats/program.md."""

import struct

from .affine import Aff, Atom
from .nodes import Access, Buffer, If, Loop, Op
from .tables import ENGINE, INSTR
from .variables import Names

VERSION = 2


class Writer:
    def __init__(self, names):
        self.out, self.names = bytearray(), names

    def u8(self, n):
        self.out.append(n)

    def u(self, n):
        out = self.out
        while n > 0x7F:
            out.append(n & 0x7F | 0x80)
            n >>= 7
        out.append(n)

    def i(self, n):
        self.u(n << 1 if n >= 0 else (-n << 1) - 1)

    def f64(self, x):
        self.out += struct.pack("<d", x)

    def blob(self, data):
        self.u(len(data))
        self.out += data

    def text(self, s):
        self.blob(s.encode())

    def counts(self, values):
        self.u(len(values))
        for v in values:
            self.u(v)

    # -- parts
    def aff(self, a):
        self.i(a.c)
        self.u(len(a.terms))
        for atom, k in a.terms.items():
            self.u(atom.number)
            self.i(k)

    def index(self, a, rank):
        self.aff(a)
        slots = a.slots if len(a.slots) == rank else (0,) * rank
        for d in slots:
            self.i(d)

    def access(self, access, rank):
        self.u(access.buffer.number)
        for a in access.dims:
            self.index(a, rank)
        if access.dyn is None:
            self.u(0)
        else:
            dim, tile, skip = access.dyn
            self.u(dim + 1)
            self.access(tile, rank)
            self.u8(1 if skip else 0)

    def cond(self, item, rank):
        self.u8(item[0])
        self.index(item[1], rank)

    def source(self, s, rank):
        if isinstance(s, Access):
            self.u8(0)
            self.access(s, rank)
        elif isinstance(s, Aff):
            self.u8(2)
            self.index(s, rank)
        else:
            self.u8(1)
            self.f64(s)

    def conditions(self, items, rank):
        self.u(len(items))
        for item in items:
            self.cond(item, rank)

    # -- nodes
    def block(self, nodes):
        self.u(len(nodes))
        for node in nodes:
            self.node(node)

    def node(self, node):
        if isinstance(node, Op):
            self.u8(node.tag)
            self.u(node.line)
            self.op(node)
        elif isinstance(node, Loop):
            self.u8(1)
            self.u(node.line)
            self.u(node.number)
            self.blob(self.names.of_loop(node.line))
            self.u8(1 if node.sequential else 0)
            self.i(node.start)
            self.u(node.trips)
            self.i(node.step)
            self.block(node.body)
        elif isinstance(node, If):
            self.u8(2)
            self.u(node.line)
            self.conditions(node.items, 0)
            self.block(node.then)
            self.block(node.orelse)
        else:
            self.u8(3)
            self.u(node.line)
            self.u(node.buffer.number)
            self.u8(0 if node.fill is None else 1)
            if node.fill is not None:
                self.f64(node.fill)

    def op(self, op):
        rank = len(op.shape)
        self.u(INSTR[op.instr])
        self.u8(ENGINE[op.engine])
        self.counts(op.shape)
        self.conditions(op.mask, rank)
        if op.tag != Op.SPECIAL:
            self.access(op.dst, rank)
        if op.tag in (Op.MAP, Op.FOLD):
            self.u8(op.work)
            if op.tag == Op.FOLD:
                self.u8(op.function)
                self.u8(1 if op.negate else 0)
            self.u8(op.accumulate)
            self.counts(op.loops)
            self.u(len(op.sources))
            for s in op.sources:
                self.source(s, rank)
            self.u(len(op.steps))
            for step in op.steps:
                self.u8(step[0])
                for operand in step[1:]:
                    self.u(operand)
        elif op.tag == Op.MATMUL:
            for side in op.extra:
                self.access(side, rank)
            self.u8(op.accumulate)
        elif op.tag == Op.SCAN:
            self.u8(op.extra[0])
            self.u8(op.extra[1])
            for s in op.sources:
                self.source(s, rank)
        else:
            kind, destinations, attributes = op.extra
            self.u8(kind)
            self.u(len(destinations))
            for d in destinations:
                self.access(d, rank)
            self.u(len(op.sources))
            for s in op.sources:
                self.source(s, rank)
            self.u(len(attributes))
            for x in attributes:
                self.f64(x)


def encode(trace, entry, outputs, returns_tuple, params, tracer):
    """@param outputs: buffers in order. @returns the bytes of the program."""
    buffers = _number(trace, outputs, params)
    names = Names(trace, buffers)
    w = Writer(names)
    w.out += b"NKIPROG\0"
    w.u(VERSION)
    w.text(entry)
    w.text(tracer)
    w.counts(trace.grid)
    w.u(len(trace.atoms))
    for atom in trace.atoms:
        w.u8(atom.kind)
        if atom.kind in (Atom.LOOP, Atom.PROGRAM_ID):
            w.u(atom.key)
        else:
            w.aff(atom.operand)
            w.u(atom.divisor)
    w.u(len(buffers))
    for b in buffers:
        w.u8(b.kind)
        w.u8(b.dtype.number)
        w.blob(names.of_buffer(b))
        w.counts(b.shape)
        w.u(b.pdim)
        w.u(0 if b.alias is None else b.alias.number + 1)
        w.u(b.line)
        if b.kind == Buffer.CONSTANT:
            w.blob(b.data)
    w.counts([b.number for b in outputs])
    w.u8(1 if returns_tuple else 0)
    w.counts([b.number for b in params])
    w.block(trace.body)
    return bytes(w.out)


def _number(trace, outputs, params):
    """Buffers that the program needs, numbered."""
    from .peephole import count_uses
    needed = {id(b) for b in count_uses(trace)} | {id(b) for b in params} | {id(b) for b in outputs}
    used = set()

    def see(access):
        used.add(id(access.buffer))
        if access.dyn is not None:
            see(access.dyn[1])

    from .peephole import accesses, operations
    for op in operations(trace.body):
        for access in accesses(op):
            see(access)
    out = []
    for b in trace.buffers:
        chain, cursor = [], b
        while cursor is not None:
            chain.append(cursor)
            cursor = cursor.alias
        if id(b) in used or id(b) in needed:
            for c in reversed(chain):
                if c.number < 0:
                    c.number = len(out)
                    out.append(c)
    return out
