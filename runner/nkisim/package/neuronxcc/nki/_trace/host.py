"""Arrays on the host of the types that numpy has not: their numbers in float32, and the type beside them."""

import types

from .dtypes import DType
from .formats import FORMATS, decode

_class = None


def _array_class():
    global _class
    if _class is None:
        import numpy

        class HostArray(numpy.ndarray):
            """float32, every number a value of `nki_dtype`. Views keep the type; what is computed of it is float32."""

            nki_dtype = None

            def __array_finalize__(self, source):
                self.nki_dtype = getattr(source, "nki_dtype", None)

            def __array_wrap__(self, result, _context=None, *_):
                return numpy.asarray(result) if result.ndim else result[()]

            def astype(self, dtype, *arguments, **named):
                return typed(numpy.asarray(self).astype)(dtype, *arguments, **named)

        _class = HostArray
    return _class


def cast(array, dtype):
    """An array in a type of FORMATS: each number rounded to the nearest value of it, ties to even."""
    return tag(from_codes(codes(array, dtype.name), dtype.name), dtype)


_MAKERS = frozenset(
    "arange array asarray astype empty eye full full_like identity linspace ones ones_like zeros zeros_like".split()
)


def is_maker(function):
    """Is it a function of numpy's that makes an array of the type that it is given?"""
    if getattr(function, "__name__", "") not in _MAKERS:
        return False
    module = getattr(function, "__module__", None)  # of a method of an array: None
    return isinstance(function, (types.FunctionType, types.BuiltinFunctionType)) and (
        module == "numpy" or hasattr(getattr(function, "__self__", None), "__array_interface__")
    )


def typed(maker):
    """A maker that takes the types of FORMATS, too."""

    def make(*arguments, **named):
        import numpy

        known = [a for a in (*arguments, *named.values()) if isinstance(a, DType) and a.name in FORMATS]
        if not known:
            return maker(*arguments, **named)
        plain = lambda a: numpy.float32 if a is known[0] else a  # noqa: E731
        return cast(maker(*map(plain, arguments), **{k: plain(a) for k, a in named.items()}), known[0])

    return make


def tag(values, dtype):
    """@param values float32, already values of the type"""
    out = values.view(_array_class())
    out.nki_dtype = dtype
    return out


def type_of(array):
    """The type an array stands for."""
    return getattr(array, "nki_dtype", None) or array.dtype


def codes(array, name):
    """The bits of the nearest values, in the smallest unsigned integers that hold them."""
    import numpy as np

    values = np.asarray(array, dtype=np.float32)
    if name == "bfloat16":
        bits = values.view(np.uint32)
        upper = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
        return np.where(np.isnan(values), bits >> 16 | 0x40, upper).astype(np.uint16)
    table = _table(name)
    order = np.argsort(table[: np.count_nonzero(np.isfinite(table[:128]))], kind="stable")  # the codes of 0 and above
    positive = table[order].astype(np.float64)
    size = np.minimum(np.abs(values.astype(np.float64)), positive[-1] * 2)
    step = np.append(positive, 2 * positive[-1] - positive[-2])  # beyond the last one: infinity
    above = np.clip(np.searchsorted(step, size), 1, len(step) - 1)
    low, high = size - step[above - 1], step[above] - size
    code = np.where((low < high) | ((low == high) & (above % 2 == 1)), above - 1, above)
    code = np.where(np.isnan(values), len(positive) + 1, np.where(size == 0, 0, code))
    return (code + np.signbit(values) * 128).astype(np.uint8)


def from_codes(bits, name):
    """float32 of codes()."""
    import numpy as np

    return (bits.astype(np.uint32) << 16).view(np.float32) if name == "bfloat16" else _table(name)[bits]


def _table(name):
    import numpy as np

    assert name in FORMATS
    return np.array([decode(code, name) for code in range(256)], dtype=np.float32)
