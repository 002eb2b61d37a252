"""neuronxcc.nki.typing: annotations of tensors."""


class _TensorAnnotation:
    """tensor, or tensor[shape]; the tracer compares the shape with the value's."""

    def __init__(self, shape=None, name="tensor"):
        self.nki_shape, self._name = shape, name

    def __getitem__(self, shape):
        shape = shape if isinstance(shape, tuple) else (shape,)
        return _TensorAnnotation(tuple(getattr(n, "n", n) for n in shape), self._name)

    def __repr__(self):
        return self._name if self.nki_shape is None else f"{self._name}{list(self.nki_shape)}"

    def __or__(self, other):
        return self

    __ror__ = __or__

    def __call__(self, *_, **__):
        raise TypeError("tensor is an annotation")


tensor = _TensorAnnotation()


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    from ._trace import context
    if name == "mutable_tensor":
        raise context.build_error("UNSUPPORTED_OP", "nt.mutable_tensor is not in this version of the simulator",
                                  rule="parameters are immutable", fix="return a tensor created with buffer=nl.shared_hbm", kind=AttributeError)
    raise context.build_error("UNKNOWN_API", f"module 'neuronxcc.nki.typing' has no attribute '{name}'", rule="only documented names exist",
                              fix="nt.tensor, nt.tensor[128, 512]")
