"""The scalar engine's accumulator registers: one float32 a partition, alive from call to call of nisa.activation.

reduce_cmd resets them, adds to them or both; reduce_res only reads them out. Most kernels reset and read out in the
same call, and that is one fold into reduce_res. It stays one until a call needs what an earlier one left: from then on
the registers are a buffer of the kernel, and the folds that were recorded before go through it as well."""

from . import context
from .affine import Aff
from .dtypes import float32
from .emit import emit_fold, emit_map, partition_aligned
from .limits import PMAX
from .nodes import Access, Alloc, Buffer, Op
from .tables import WORK_F32
from .tensor import Tensor


class Accumulators:
    """The registers of one trace. buffer: None while nothing is carried; direct: (block, fold) that went past them."""

    def __init__(self):
        self.buffer, self.direct, self.known = None, [], False

    def carry(self, trace):
        """Makes the registers a buffer; what was folded straight into a result is folded into them and copied from
        there."""
        if self.buffer is not None:
            return
        self.buffer = Buffer(
            Buffer.SBUF, float32, "accumulators", (PMAX, 1), 0, "sbuf", context.kernel_line(), trace.top
        )
        trace.keep_buffer(self.buffer)
        trace.body.insert(0, Alloc(self.buffer.line, self.buffer, None))
        for block, fold in self.direct:
            result, fold.dst = fold.dst, _rows(self.buffer, fold.shape)
            space = fold.shape[:1] + (1,) * (len(fold.shape) - 1)
            copy = Op(Op.MAP, fold.line, "part_of_former", "scalar", space, (), result, [fold.dst], [], WORK_F32)
            block.insert(block.index(fold) + 1, copy)
        self.direct.clear()


def _rows(buffer, shape):
    """The access of the first shape[0] registers over a space whose other axes are reduced."""
    still = (0,) * (len(shape) - 1)
    return Access(buffer, (Aff(0, {}, (1 if shape[0] > 1 else 0,) + still, shape), Aff(0, {}, (0,) + still, shape)))


def _view(buffer, shape):
    space = shape[:1] + (1,) * (len(shape) - 1)
    return Tensor(buffer, _rows(buffer, space).dims, space)


def accumulate(label, command, reduce_res, values, steps, shape, mask):
    """Does what `command` (reset, reduce or reset_reduce) says with the sums of steps(values) over the free axes, and
    reads the registers out into reduce_res, a (p, 1) tile or None."""
    trace = context.current()
    registers = trace.accumulators = trace.accumulators or Accumulators()

    def fold(dst, **more):
        axes = list(range(1, len(shape)))
        emit_fold(dst, values, steps, "add", axes, "activation_reduce", "scalar", mask, label, shape=shape, **more)

    if command == "reduce" and not registers.known:
        context.warn(f"{label}: reduce_cmd reduce adds to what the accumulators hold, and no call before it reset them")
    registers.known = registers.known or command != "reduce"
    if command != "reset_reduce" or reduce_res is None:
        registers.carry(trace)
    result = None if reduce_res is None else partition_aligned(reduce_res, len(shape))
    if registers.buffer is None:
        fold(result)
        registers.direct.append((trace.region.block, trace.region.block[-1]))
        return
    held = _view(registers.buffer, shape)
    if command == "reset":
        emit_map(held, [0.0], [], "part_of_former", "scalar", (), label, own=True)
    else:
        fold(held, accumulate="add" if command == "reduce" else None, own=True)
    if result is not None:
        emit_map(result, [held], [], "part_of_former", "scalar", (), label, own=command == "reduce")
