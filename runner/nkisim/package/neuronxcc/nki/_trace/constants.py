"""Bytes of compile-time constants in any element type."""

import struct

from . import dtypes

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


def bfloat16_bits(value):
    """Round to nearest even."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    if bits & 0x7FFFFFFF > 0x7F800000:
        return (bits >> 16) | 0x40
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 & 0xFFFF


def float8_bits(value, exponent_bits, mantissa_bits):
    """The nearest value of a small float format (ties to even, saturating), by search over its 256 codes."""

    def decode(code):
        sign = -1.0 if code & 0x80 else 1.0
        e, m = (code >> mantissa_bits) & ((1 << exponent_bits) - 1), code & ((1 << mantissa_bits) - 1)
        bias = (1 << (exponent_bits - 1)) - 1
        if e == 0:
            return sign * m * 2.0 ** (1 - bias - mantissa_bits)
        return sign * (1 + m / (1 << mantissa_bits)) * 2.0 ** (e - bias)

    top = 0x7E if exponent_bits == 4 else 0x7B
    sign = 0x80 if value < 0 else 0
    best = min(range(top + 1), key=lambda c: (abs(decode(c) - abs(value)), c & 1))
    return best | sign


def element_bytes(value, dtype):
    if dtype is dtypes.bfloat16:
        return struct.pack("<H", bfloat16_bits(float(value)))
    if dtype is dtypes.float8_e4m3:
        return bytes([float8_bits(float(value), 4, 3)])
    if dtype is dtypes.float8_e5m2:
        return bytes([float8_bits(float(value), 5, 2)])
    code = _STRUCT[dtype.name]
    return struct.pack("<" + code, float(value) if code in "ef" else int(value))


def array_bytes(array, dtype):
    """C-order bytes of a numpy array cast to `dtype`."""
    if dtype.name in ("bfloat16", "float8_e4m3", "float8_e5m2"):
        return b"".join(element_bytes(v, dtype) for v in array.reshape(-1).tolist())
    name = "float32" if dtype is dtypes.tfloat32 else dtype.name
    return array.astype(name).tobytes()


def identity_bytes(n, dtype):
    one, zero = element_bytes(1, dtype), element_bytes(0, dtype)
    return b"".join(zero * i + one + zero * (n - i - 1) for i in range(n))
