"""neuronxcc.nki.compiler: decorators that steer the real back end (identity here), allocators (a buffer argument here).

Direct allocation places tiles by hand; the simulator places them itself, so an allocator only says which memory. Its
documented limits are kept: addresses within the usable bytes, no initial values, no tensor-engine transpose, an
explicit bias."""

from .._trace import context
from .._trace.limits import PSUM_BANKS, PSUM_BYTES, SBUF_BYTES


def _identity(func=None, **_):
    return func if func is not None else lambda f: f


enable_stack_allocator = force_auto_alloc = skip_middle_end_transformations = no_reorder = multi_buffer = _identity

_LIMIT = {"sbuf": SBUF_BYTES, "psum": PSUM_BYTES}


class _Allocator:
    """ncc.sbuf or ncc.psum; `direct` ones come from alloc() and mod_alloc()."""

    def __init__(self, name, direct=False):
        self.memory_name, self.direct = name, direct

    def __repr__(self):
        return f"ncc.{self.memory_name}"

    def auto_alloc(self, **_):
        """The compiler chooses the place."""
        return self

    def alloc(self, func=None, **_):
        """A function chooses the place of each block."""
        return self._placed()

    def mod_alloc(
        self, *, base_addr=0, base_bank=0, num_bank_tiles=(), base_partition=0, num_par_tiles=(), num_free_tiles=(), **_
    ):
        """Blocks share places in turn, from base_addr [bytes in a partition]."""
        limit = _LIMIT[self.memory_name]
        if not isinstance(base_addr, int) or not 0 <= base_addr < limit:
            context.fail(
                "CAPACITY",
                f"ncc.{self.memory_name}.mod_alloc: base_addr {base_addr}",
                rule=f"addresses are 0 to {limit - 1} bytes",
                fix="start at 0 and add the bytes of each tile",
            )
        if not isinstance(base_bank, int) or not 0 <= base_bank < PSUM_BANKS:
            context.fail(
                "CAPACITY",
                f"ncc.{self.memory_name}.mod_alloc: base_bank {base_bank}",
                rule="PSUM has banks 0 to 7",
                fix="base_bank=0",
            )
        return self._placed()

    def _placed(self):
        trace = context.trace_or_fail(f"ncc.{self.memory_name}.alloc")
        trace.direct_allocation = True
        return _Allocator(self.memory_name, direct=True)


sbuf, psum = _Allocator("sbuf"), _Allocator("psum")
