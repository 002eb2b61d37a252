"""Reads the binary form back into plain dictionaries (docs/formats/program.md): for dumps and tests."""

import struct

from .conditions import Cond
from .dtypes import ALL
from .tables import ARITY, ATOM_NAMES, BUFFER_NAMES, ENGINE_NAMES, FN_NAMES, INSTR_NAMES, NODE_NAMES
from .tables import SOURCE, WORK_NAMES

_DTYPES = {d.number: d.name for d in ALL}


class Reader:
    def __init__(self, data):
        self.data, self.at, self.buffers = data, 0, []

    def u8(self):
        self.at += 1
        return self.data[self.at - 1]

    def u(self):
        value = shift = 0
        while True:
            byte = self.u8()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def i(self):
        n = self.u()
        return n >> 1 if not n & 1 else -((n + 1) >> 1)

    def f64(self):
        self.at += 8
        return struct.unpack("<d", self.data[self.at - 8 : self.at])[0]

    def blob(self):
        n = self.u()
        self.at += n
        return bytes(self.data[self.at - n : self.at])

    def many(self, read):
        return [read() for _ in range(self.u())]

    def aff(self):
        return {"c": self.i(), "terms": self.many(lambda: (self.u(), self.i()))}

    def index(self, rank):
        out = self.aff()
        out["slots"] = [self.i() for _ in range(rank)]
        return out

    def access(self, rank):
        buffer = self.u()
        out = {"buffer": buffer, "dims": [self.index(rank) for _ in self.buffers[buffer]["shape"]]}
        dynamic = self.u()
        if dynamic:
            out["dyn"] = {"dim": dynamic - 1, "tile": self.access(rank), "skip": bool(self.u8())}
        return out

    def cond(self, rank):
        return {"kind": Cond.TEXTS[self.u8()], "index": self.index(rank)}

    def source(self, rank):
        kind = self.u8()
        if kind == SOURCE["access"]:
            return {"access": self.access(rank)}
        return {"constant": self.f64()} if kind == SOURCE["constant"] else {"index": self.index(rank)}

    def step(self):
        fn = self.u8()
        return [FN_NAMES[fn]] + [self.u() for _ in range(ARITY[fn])]

    def fn(self):
        n = self.u8()
        return None if n == 255 else FN_NAMES[n]

    def node(self):
        tag, line = NODE_NAMES[self.u8()], self.u()
        out = {"line": line}
        if tag == "loop":
            out.update(
                node="loop",
                id=self.u(),
                name=self.blob().decode(),
                kind=("affine", "sequential")[self.u8()],
                start=self.i(),
                trips=self.u(),
                step=self.i(),
            )
            out["body"] = self.many(self.node)
        elif tag == "branch":
            out.update(node="if", conditions=self.many(lambda: self.cond(0)))
            out["then"], out["else"] = self.many(self.node), self.many(self.node)
        elif tag == "alloc":
            out.update(node="alloc", buffer=self.u(), fill=self.f64() if self.u8() else None)
        else:
            self.operation(tag, out)
        return out

    def operation(self, tag, out):
        out["instr"], out["engine"] = INSTR_NAMES[self.u()], ENGINE_NAMES[self.u8()]
        out["shape"] = self.many(self.u)
        rank = len(out["shape"])
        out["mask"] = self.many(lambda: self.cond(rank))
        if tag != "special":
            out["dst"] = self.access(rank)
        out["node"] = tag
        if tag in ("map", "fold"):
            out["work"] = WORK_NAMES[self.u8()]
            if tag == "fold":
                out.update(function=self.fn(), negate=bool(self.u8()))
            out.update(
                accumulate=self.fn(),
                loops=self.many(self.u),
                sources=self.many(lambda: self.source(rank)),
                steps=self.many(self.step),
            )
        elif tag == "matmul":
            out.update(stationary=self.access(rank), moving=self.access(rank), accumulate=self.u8())
        elif tag == "scan":
            out.update(op0=self.fn(), op1=self.fn(), sources=[self.source(rank) for _ in range(3)])
        else:
            out.update(
                kind=self.u8(),
                destinations=self.many(lambda: self.access(rank)),
                sources=self.many(lambda: self.source(rank)),
                attributes=self.many(self.f64),
            )


def decode(data):
    """@returns the program as dictionaries. @raises ValueError when it does not end where it should."""
    r = Reader(data)
    if data[:8] != b"NKIPROG\0":
        raise ValueError("not an NKI program")
    r.at = 8
    out = {"version": r.u(), "entry": r.blob().decode(), "tracer": r.blob().decode(), "grid": r.many(r.u)}

    def atom():
        kind = r.u8()
        one = {"kind": ATOM_NAMES[kind]}
        one.update({"id": r.u()} if one["kind"] in ("loop", "program_id") else {"operand": r.aff(), "divisor": r.u()})
        return one

    def buffer():
        kind = r.u8()
        one = {
            "kind": BUFFER_NAMES[kind],
            "dtype": _DTYPES[r.u8()],
            "name": r.blob().decode(),
            "shape": r.many(r.u),
            "pdim": r.u(),
            "alias": r.u() - 1,
            "line": r.u(),
        }
        if one["kind"] == "constant":
            one["data"] = r.blob()
        r.buffers.append(one)
        return one

    out["atoms"], out["buffers"] = r.many(atom), r.many(buffer)
    out["outputs"], out["tuple"], out["params"] = r.many(r.u), bool(r.u8()), r.many(r.u)
    out["body"] = r.many(r.node)
    if r.at != len(data):
        raise ValueError(f"{len(data) - r.at} bytes follow the program")
    return out


def walk(block):
    """All nodes, outer first."""
    for node in block:
        yield node
        for part in ("body", "then", "else"):
            yield from walk(node.get(part, ()))
