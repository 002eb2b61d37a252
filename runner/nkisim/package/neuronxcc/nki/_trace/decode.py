"""Reads the binary form back into plain dictionaries (docs/formats/program.md): for dumps and tests."""

import struct

from .dtypes import ALL
from .tables import ENGINE_NAMES, FN_NAMES, INSTR_NAMES

BUFFER_KINDS = ("param", "output", "hbm", "sbuf", "psum", "constant")
ATOM_KINDS = ("loop", "program_id", "floor_div", "mod")
_BINARY, _TERNARY = 23, (54,)


def arity(fn):
    return 3 if fn in _TERNARY else 2 if fn < _BINARY else 1


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
        return {"kind": (">= 0", "== 0", "!= 0")[self.u8()], "index": self.index(rank)}

    def source(self, rank):
        kind = self.u8()
        return (
            {"access": self.access(rank)}
            if kind == 0
            else {"constant": self.f64()}
            if kind == 1
            else {"index": self.index(rank)}
        )

    def step(self):
        fn = self.u8()
        return [FN_NAMES[fn]] + [self.u() for _ in range(arity(fn))]

    def fn(self):
        n = self.u8()
        return None if n == 255 else FN_NAMES[n]

    def node(self):
        tag, line = self.u8(), self.u()
        out = {"line": line}
        if tag == 1:
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
        elif tag == 2:
            out.update(node="if", conditions=self.many(lambda: self.cond(0)))
            out["then"], out["else"] = self.many(self.node), self.many(self.node)
        elif tag == 3:
            out.update(node="alloc", buffer=self.u(), fill=self.f64() if self.u8() else None)
        else:
            self.operation(tag, out)
        return out

    def operation(self, tag, out):
        out["instr"], out["engine"] = INSTR_NAMES[self.u()], ENGINE_NAMES[self.u8()]
        out["shape"] = self.many(self.u)
        rank = len(out["shape"])
        out["mask"] = self.many(lambda: self.cond(rank))
        if tag != 8:
            out["dst"] = self.access(rank)
        if tag in (4, 5):
            out.update(node="map" if tag == 4 else "fold", work=("float32", "int32", "raw")[self.u8()])
            if tag == 5:
                out.update(function=self.fn(), negate=bool(self.u8()))
            out.update(
                accumulate=self.fn(),
                loops=self.many(self.u),
                sources=self.many(lambda: self.source(rank)),
                steps=self.many(self.step),
            )
        elif tag == 6:
            out.update(node="matmul", stationary=self.access(rank), moving=self.access(rank), accumulate=self.u8())
        elif tag == 7:
            out.update(node="scan", op0=self.fn(), op1=self.fn(), sources=[self.source(rank) for _ in range(3)])
        else:
            out.update(
                node="special",
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
        one = {"kind": ATOM_KINDS[kind]}
        one.update({"id": r.u()} if kind < 2 else {"operand": r.aff(), "divisor": r.u()})
        return one

    def buffer():
        kind = r.u8()
        one = {
            "kind": BUFFER_KINDS[kind],
            "dtype": ALL[r.u8()].name,
            "name": r.blob().decode(),
            "shape": r.many(r.u),
            "pdim": r.u(),
            "alias": r.u() - 1,
            "line": r.u(),
        }
        if kind == 5:
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
