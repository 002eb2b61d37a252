"""neuronxcc.nki.typing: annotations of tensors."""

from typing import Optional as _Optional

from ._trace import context as _context, names as _names


class _TensorAnnotation:
    """tensor, or tensor[shape]; the tracer compares the shape with the value's."""

    def __init__(self, shape=None, name="tensor", mutable=False):
        self.nki_shape, self._name, self.nki_mutable = shape, name, mutable

    def __getitem__(self, shape):
        shape = shape if isinstance(shape, tuple) else (shape,)
        return _TensorAnnotation(tuple(getattr(n, "n", n) for n in shape), self._name, self.nki_mutable)

    def __repr__(self):
        return self._name if self.nki_shape is None else f"{self._name}{list(self.nki_shape)}"

    def __or__(self, other):
        return self

    __ror__ = __or__

    def __call__(self, *_, **__):
        raise TypeError(f"{self._name} is an annotation")


tensor = _TensorAnnotation()
Optional = _Optional
_mutable = _TensorAnnotation(name="mutable_tensor", mutable=True)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "mutable_tensor" and _names.visible("nt", name):
        return _mutable
    if name == "mutable_tensor":
        raise _context.build_error(
            "UNKNOWN_API",
            "module 'neuronxcc.nki.typing' has no attribute 'mutable_tensor'",
            rule="nt.mutable_tensor exists since SDK 2.26; before, parameters are immutable",
            fix="return a tensor created with buffer=nl.shared_hbm, or compile for sdk 2.26",
        )
    raise _context.build_error(
        "UNKNOWN_API",
        f"module 'neuronxcc.nki.typing' has no attribute '{name}'",
        rule="only documented names exist",
        fix="nt.tensor, nt.tensor[128, 512]",
    )
