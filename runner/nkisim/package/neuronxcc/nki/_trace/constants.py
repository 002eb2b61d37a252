"""Bytes of compile-time constants in any element type."""

import struct

from . import dtypes, formats

_STRUCT = {
    "uint8": "B",
    "int8": "b",
    "uint16": "H",
    "int16": "h",
    "uint32": "I",
    "int32": "i",
    "float16": "e",
    "float32": "f",
    "tfloat32": "f",
    "bool": "?",
}


def element_bytes(value, dtype):
    if dtype.name in formats.FORMATS:
        return formats.encode(float(value), dtype.name).to_bytes(dtype.size, "little")
    code = _STRUCT[dtype.name]
    return struct.pack("<" + code, float(value) if code in "ef" else int(value))


def array_bytes(array, dtype):
    """C-order bytes of a numpy array cast to `dtype`."""
    if dtype.name in formats.FORMATS:
        return b"".join(element_bytes(v, dtype) for v in array.reshape(-1).tolist())
    name = "float32" if dtype is dtypes.tfloat32 else dtype.name
    return array.astype(name).tobytes()


def identity_bytes(n, dtype):
    one, zero = element_bytes(1, dtype), element_bytes(0, dtype)
    return b"".join(zero * i + one + zero * (n - i - 1) for i in range(n))
