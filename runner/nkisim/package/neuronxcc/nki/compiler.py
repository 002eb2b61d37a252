"""neuronxcc.nki.compiler: decorators that steer the real back end (identity here) and direct allocation (automatic only)."""


def _identity(func=None, **_):
    return func if func is not None else lambda f: f


enable_stack_allocator = force_auto_alloc = skip_middle_end_transformations = no_reorder = multi_buffer = _identity


class _Allocator:
    def __init__(self, name):
        self.memory_name = name

    def __repr__(self):
        return f"ncc.{self.memory_name}"

    def auto_alloc(self, **_):
        return self

    def _direct(self, *_, **__):
        from ._trace import context
        context.fail("UNSUPPORTED_OP", f"ncc.{self.memory_name} direct allocation is not in this version of the simulator",
                     rule="documented, but not implemented here", fix=f"buffer=nl.{self.memory_name}")

    alloc = mod_alloc = _direct


sbuf, psum = _Allocator("sbuf"), _Allocator("psum")
