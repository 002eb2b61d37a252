"""After the trace: an operation whose temporary is only copied away writes to its destination itself.

Every call makes a new tile, so `acc += nisa.nc_matmul(a, b)` is recorded as a matmul into a temporary and an
accumulating copy of it. The invariant of a merge: what the destination holds afterwards has the same bits. So the
temporary has no other reader and none outside of the trace; nothing happens between the two operations (they stand side
by side); no rounding is skipped; the operation does not read what it would now overwrite; and both work under the same
conditions."""

import math

from .affine import Aff
from .dtypes import float32
from .limits import PSUM_BANK_BYTES
from .nodes import NO_FUNCTION, Access, Alloc, Buffer, If, Loop, Op, operations
from .tables import FN


class Uses:
    """Accesses of each root buffer over a program, and the buffers that are accessed."""

    def __init__(self, block):
        self.count, self.buffers = {}, set()
        for op in operations(block):
            self._see_op(op)

    def _see_op(self, op):
        if op.dst is not None:
            self._see(op.dst)
        for source in op.sources:
            if type(source) is Access:
                self._see(source)
        if op.tag == Op.MATMUL:
            for side in op.extra:
                self._see(side)
        elif op.tag == Op.SPECIAL:
            for destination in op.extra[1]:
                self._see(destination)

    def _see(self, access):
        buffer = access.buffer
        root = buffer.root
        self.count[root] = self.count.get(root, 0) + 1
        self.buffers.add(buffer)
        if access.dyn is not None:
            self._see(access.dyn[1])

    def drop(self, temp):
        del self.count[temp]
        self.buffers.discard(temp)


def forward(trace, keep):
    """Merges in place; `keep` are buffers that must stay (returned ones). @returns the uses that are left"""
    uses = Uses(trace.body)
    _block(trace.body, uses, keep)
    return uses


def _block(block, uses, keep):
    out = []
    for node in block:
        if isinstance(node, Loop):
            _block(node.body, uses, keep)
        elif isinstance(node, If):
            _block(node.then, uses, keep)
            _block(node.orelse, uses, keep)
        elif isinstance(node, Op) and out and isinstance(out[-1], Op) and _merge(out[-1], node, uses, keep):
            continue
        out.append(node)
    block[:] = out


def _merge(op, copy, uses, keep):
    """True when `copy` was folded into `op`."""
    if not _copies_result(op, copy, uses, keep):
        return False
    target, temp = copy.dst, op.dst.buffer
    composed = _compose(target, op.dst, op.shape)
    if not _types_fit(op, temp, target.buffer, copy.accumulates) or _reads(op, composed):
        return False
    if op.tag == Op.MATMUL:
        if not _matmul_may_write(copy):
            return False
        op.accumulate = 1 if copy.accumulates else 0
    else:
        op.accumulate, op.loops = copy.accumulate, copy.loops
    op.dst = composed
    uses.drop(temp)
    return True


def _copies_result(op, copy, uses, keep):
    """Does `copy` move all that `op` has just made from its temporary, which nobody else sees, to an on-chip tile?"""
    if copy.tag != Op.MAP or copy.steps or len(copy.sources) != 1 or not isinstance(copy.sources[0], Access):
        return False
    if op.tag not in (Op.MAP, Op.FOLD, Op.MATMUL) or op.accumulates:
        return False
    source, target = copy.sources[0], copy.dst
    temp = source.buffer
    if op.dst.buffer is not temp or temp.root is not temp or temp in keep or uses.count.get(temp) != 2:
        return False
    if not (temp.on_chip and target.buffer.on_chip) or source.dyn or target.dyn or op.dst.dyn:
        return False
    return _identity(source, copy.shape) and (not copy.mask or _same_mask(_result_mask(op), copy.mask))


def _matmul_may_write(copy):
    """A matmul writes and adds float32 in one bank of PSUM."""
    buffer = copy.dst.buffer
    return (
        buffer.kind == Buffer.PSUM
        and buffer.dtype is float32
        and copy.accumulate in (NO_FUNCTION, FN["add"])
        and _within_bank(copy.dst, copy.shape)
    )


def _within_bank(access, shape):
    """A matmul's result lies in one bank of a partition, whatever the loops' variables.

    Bytes in a partition: the place is `start` plus a multiple of `step` (the common divisor of how far the variables
    move it, and of a bank), so within its bank it is at most BANK - step + start % step; `span` bytes follow."""
    buffer = access.buffer
    stride, start, step, span = buffer.dtype.size, 0, PSUM_BANK_BYTES, buffer.dtype.size
    for dim in range(len(buffer.shape) - 1, buffer.pdim, -1):
        aff = access.dims[dim]
        start += aff.c * stride
        for atom, k in aff.terms.items():
            if atom.hi > atom.lo:
                step = math.gcd(step, abs(k * stride))
        span += sum(abs(d) * (n - 1) * stride for d, n in zip(aff.slots, shape))
        stride *= buffer.shape[dim]
    first = start % step
    return (PSUM_BANK_BYTES - step + first if step != PSUM_BANK_BYTES else first) + span <= PSUM_BANK_BYTES


def _identity(access, shape):
    """The copy reads the whole temporary, axis by axis (same rank), or with axes of size 1 left out."""
    if tuple(access.buffer.shape) != tuple(shape):
        return False
    for k, a in enumerate(access.dims):
        if a.c or a.terms or any(d != (1 if j == k and shape[k] > 1 else 0) for j, d in enumerate(a.slots)):
            return False
    return True


def _result_mask(op):
    """The conditions on what an operation writes; a matmul's also say what it reads."""
    if op.tag != Op.MATMUL:
        return op.mask
    return [(kind, Aff(e.c, e.terms, e.slots[1:], e.shape[1:])) for kind, e in op.mask if not e.slots[0]]


def _same_mask(a, b):
    return len(a) == len(b) and all(x[0] == y[0] and x[1].same(y[1]) for x, y in zip(a, b))


def _types_fit(op, temp, target, accumulates):
    """No rounding may be skipped: equal types, or a float32 temporary of float32 work, which holds the value exactly.

    An accumulation into a narrow type rounds the sum: over a narrow temporary it would have rounded the addend, too."""
    if temp.dtype is float32 and op.work == 0:
        return True
    return temp.dtype is target.dtype and not accumulates and (op.work != 2 or temp.dtype is target.dtype)


def _reads(op, target):
    """Does the operation read the destination's storage at other places than the point it writes?"""
    root = target.buffer.root
    sources = [s for s in op.sources if isinstance(s, Access)] + (list(op.extra) if op.tag == Op.MATMUL else [])
    for s in sources:
        if s.dyn is not None and s.dyn[1].buffer.root is root:
            return True
        if s.buffer.root is root and (op.tag != Op.MAP or not s.same(target)):
            return True
    return False


def _compose(target, inner, shape):
    """target's dims (over the temporary's axes) expressed over the operation's space: the axes of the temporary are
    what `inner` says, so a fold's reduced axes keep slot 0."""
    dims = []
    for a in target.dims:
        out = Aff(a.c, a.terms, (0,) * len(shape), tuple(shape))
        for d, index in zip(a.slots, inner.dims):
            if d:
                out = out.plus(Aff(index.c, index.terms, index.slots, tuple(shape)), d)
        dims.append(out)
    return Access(target.buffer, dims)


def drop_dead(block, uses):
    """Removes allocations of buffers that nothing accesses."""
    out = []
    for node in block:
        kind = type(node)
        if kind is Alloc and node.buffer not in uses.count:
            continue
        if kind is Loop:
            drop_dead(node.body, uses)
        elif kind is If:
            drop_dead(node.then, uses)
            drop_dead(node.orelse, uses)
        out.append(node)
    block[:] = out
