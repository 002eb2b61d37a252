"""Element types of NKI on NeuronCore-v2 and how two of them combine."""

import sys

from . import formats
from .numbers import DTYPE


class DType:
    """One element type. `number` is the program form's; equal to numpy's type of the same name and to its own name.

    It stands where numpy takes a type (np.dtype, np.ones, array.astype) and makes numbers when it is called."""

    __slots__ = ("name", "number", "size", "kind", "bits", "_hash")

    def __init__(self, name, number, size, kind, bits):
        self.name, self.number, self.size, self.kind, self.bits = name, number, size, kind, bits
        self._hash = None

    @property
    def itemsize(self):
        return self.size

    @property
    def __name__(self):
        return self.name

    @property
    def dtype(self):
        """Numpy's dtype.

        Numpy has no bfloat16 and float8. They are ml_dtypes' where the program uses that, else plain bytes: their size
        is right and no array of them can be taken for numbers."""
        import numpy  # whoever asks has loaded it

        if self.name in formats.FORMATS:
            known = getattr(sys.modules.get("ml_dtypes"), self.name, f"V{self.size}")
        else:
            known = "float32" if self.name == "tfloat32" else self.name
        return numpy.dtype(known)

    def __call__(self, value=0):
        """A number of this type: numpy's, or where it has none, the rounded number with this dtype."""
        kind = self.dtype.type
        if self.name not in formats.FORMATS:
            return kind(value)
        return kind(value) if self.dtype.kind != "V" else Number(formats.rounded(float(value), self.name), self)

    def __repr__(self):
        return self.name

    def __str__(self):
        return self.name

    def __hash__(self):
        """Of numpy's (or ml_dtypes') type of this name, where the program uses that: a dict with the one for a key
        finds the other. Once asked for it stays."""
        if self._hash is None:
            module = sys.modules.get("ml_dtypes" if self.name in formats.FORMATS else "numpy")
            name = "bool_" if self.name == "bool" else self.name
            self._hash = hash(getattr(module, name, self.name))
        return self._hash

    def __eq__(self, other):
        if isinstance(other, DType):
            return self is other
        return lookup(other) is self

    def __ne__(self, other):
        return not self == other

    @property
    def is_float(self):
        return self.kind == "f"

    @property
    def is_integer(self):
        return self.kind in "iub"


class Number(float):
    """A scalar of a type that numpy lacks."""

    __slots__ = ("dtype",)

    def __new__(cls, value, dtype):
        out = super().__new__(cls, value)
        out.dtype = dtype
        return out


ALL = tuple(DType(name, number, size, kind, bits) for number, _, name, size, kind, bits in DTYPE)
_BY_NAME = {d.name: d for d in ALL}
uint8, int8, uint16, int16, uint32, int32 = map(_BY_NAME.get, ("uint8", "int8", "uint16", "int16", "uint32", "int32"))
float8_e4m3, float8_e5m2, float16, bfloat16 = map(_BY_NAME.get, ("float8_e4m3", "float8_e5m2", "float16", "bfloat16"))
tfloat32, float32, bool_ = map(_BY_NAME.get, ("tfloat32", "float32", "bool"))
_BY_NAME.update(
    {"bool_": bool_, "fp32": float32, "bf16": bfloat16, "fp16": float16, "tf32": tfloat32, "float8_e4m3fn": float8_e4m3}
)
SUPPORTED = ", ".join(d.name for d in ALL)


def lookup(what):
    """The DType that `what` names (ours, numpy's dtype or scalar type, a string), or None."""
    if isinstance(what, DType):
        return what
    if isinstance(what, str):
        return _BY_NAME.get(what)
    if what is bool:
        return bool_
    name = getattr(what, "name", None)
    if not isinstance(name, str):
        name = getattr(what, "__name__", None)
    return _BY_NAME.get(name) if isinstance(name, str) else None


def describe(what):
    """How to write an unsupported type in a message."""
    name = getattr(what, "__name__", None) or getattr(what, "name", None)
    return str(name if isinstance(name, str) else what)


def of_scalar(value):
    """Scalars of Python are weak only in the wide direction; numpy's keep their type."""
    known = lookup(getattr(value, "dtype", None)) if hasattr(value, "dtype") else None
    if known is not None:
        return known
    if isinstance(value, bool):
        return uint8
    if isinstance(value, int) or getattr(getattr(value, "dtype", None), "kind", "") in "iu" and hasattr(value, "dtype"):
        return int32
    return float32


def _promote_floats(a, b):
    if {a, b} == {float16, bfloat16}:
        return float32
    if {a, b} == {float8_e4m3, float8_e5m2}:
        return bfloat16
    return a if a.bits >= b.bits else b


def _promote_integers(a, b):
    a = uint8 if a is bool_ else a
    b = uint8 if b is bool_ else b
    if a.kind == b.kind:
        return a if a.bits >= b.bits else b
    signed, unsigned = (a, b) if a.kind == "i" else (b, a)
    if signed.bits > unsigned.bits:
        return signed
    return {8: int16, 16: int32, 32: float32}[unsigned.bits]


def promote(a, b):
    """The type of `a op b` on tiles."""
    if a is b:
        return a
    if a.is_float and b.is_float:
        return _promote_floats(a, b)
    if a.is_float or b.is_float:
        return a if a.is_float else b
    return _promote_integers(a, b)
