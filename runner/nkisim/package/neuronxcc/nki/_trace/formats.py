"""Bits of the floating point formats that Python and numpy do not have, as the engine rounds and reads them."""

import math
import struct

FORMATS = {"bfloat16": (8, 7), "float8_e4m3": (4, 3), "float8_e5m2": (5, 2)}  # bits of exponent, of mantissa


def encode(value, name):
    """The code of the nearest value, ties to even; what is too large becomes infinity. Numbers pass through float32."""
    exponent_bits, mantissa_bits = FORMATS[name]
    (value,) = struct.unpack("<f", struct.pack("<f", value))
    bias, infinity = (1 << (exponent_bits - 1)) - 1, ((1 << exponent_bits) - 1) << mantissa_bits
    sign = (1 << (exponent_bits + mantissa_bits)) if math.copysign(1.0, value) < 0 else 0
    if math.isnan(value):
        return sign | infinity | 1 << (mantissa_bits - 1)
    if math.isinf(value):
        return sign | infinity
    # Of the leading bit; zero and the subnormals share the lowest.
    exponent = max(math.frexp(value)[1] - 1, 1 - bias) if value else 1 - bias
    units = round(math.ldexp(abs(value), mantissa_bits - exponent))
    # Where rounding fills the mantissa, the sum carries into the exponent, and from the largest value into infinity.
    return sign | min(((exponent + bias - 1) << mantissa_bits) + units, infinity)


def decode(code, name):
    """The value of a code."""
    exponent_bits, mantissa_bits = FORMATS[name]
    bias, top = (1 << (exponent_bits - 1)) - 1, (1 << exponent_bits) - 1
    exponent, mantissa = code >> mantissa_bits & top, code & (1 << mantissa_bits) - 1
    if exponent == top:
        value = math.nan if mantissa else math.inf
    else:
        leading = 1 << mantissa_bits if exponent else 0
        value = math.ldexp(leading + mantissa, max(exponent, 1) - bias - mantissa_bits)
    return -value if code >> (exponent_bits + mantissa_bits) else value


def rounded(value, name):
    """The nearest value of the format."""
    return decode(encode(value, name), name)
