"""The C++ engine through ctypes (runner/nkisim/capi.h), for drop-in runs on numpy arrays."""

import ctypes
import json
import math
import os
import re
import warnings

import numpy as np

from . import dtypes, host
from .decode import decode
from .errors import make_error
from .formats import FORMATS

_library = None
_OK, _FAULT = 0, 1
POISON_NAN_BITS, POISON_INT_BYTE = 0x7FC0DEAD, 0xA5
_REPORT_BYTES = 1 << 16


def library():
    """The shared library beside the package. @raises OSError when it is not built."""
    global _library
    if _library is None:
        package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        path = os.environ.get("NKISIM_ENGINE") or os.path.join(package, "_engine.so")
        lib = ctypes.CDLL(path)
        pointers, sizes = ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t)
        data = text = [ctypes.c_char_p, ctypes.c_size_t]
        arrays, poison = [pointers, sizes, ctypes.c_size_t], [ctypes.c_uint32, ctypes.c_uint8]
        lib.nkisim_validate.argtypes = data + text
        lib.nkisim_run.argtypes = data + arrays + arrays + poison + text
        lib.nkisim_diagnose.argtypes = data + arrays + poison + text
        lib.nkisim_estimate_us.argtypes, lib.nkisim_estimate_us.restype = data, ctypes.c_double
        lib.nkisim_counter.argtypes, lib.nkisim_counter.restype = data + [ctypes.c_char_p], ctypes.c_double
        _library = lib
    return _library


def validate(data):
    """None, or why the trusted side refuses the program."""
    error = ctypes.create_string_buffer(4096)
    return (
        None
        if library().nkisim_validate(data, len(data), error, 4096) == _OK
        else error.value.decode("utf-8", "replace")
    )


def estimate_us(data):
    return library().nkisim_estimate_us(data, len(data))


def counter(data, name):
    """Bytes that the estimate goes with, spills included, by a name of the vendor's profiler: "hbm_read_bytes", ..."""
    return library().nkisim_counter(data, len(data), name.encode())


def _array_for(shape, name):
    host = {"bfloat16": "uint16", "tfloat32": "float32", "float8_e4m3": "uint8", "float8_e5m2": "uint8"}.get(name, name)
    return np.empty(shape, dtype=host)


def to_host(array, name):
    """bfloat16 and float8 come back as float32 that knows its type: numpy has no such types."""
    return host.tag(host.from_codes(array, name), dtypes.lookup(name)) if name in FORMATS else array


def _pointers(arrays):
    pointers = (ctypes.c_void_p * max(1, len(arrays)))(*[a.ctypes.data for a in arrays])
    sizes = (ctypes.c_size_t * max(1, len(arrays)))(*[a.nbytes for a in arrays])
    return ctypes.cast(pointers, ctypes.POINTER(ctypes.c_void_p)), sizes


def run(program, inputs):
    """Runs on numpy arrays. @returns output arrays. @raises the run's fault; warns of elements that were never written,
    and, with those or with NaN in an output, of what may have caused it: undefined reads, functions outside of their
    range, lost results.
    """
    outputs, report = run_raw(program.data, inputs, program.outputs)
    if report.get("code", "none") not in ("none", "", None):
        raise _fault(report, program)
    results = [to_host(a, name) for a, (_, name) in zip(outputs, program.outputs)]
    hints = report.get("hints") or []
    if hints or any(a.dtype.kind == "f" and bool((a != a).any()) for a in results):
        for text in hints + causes(program.data, inputs):
            warnings.warn(text, RuntimeWarning, stacklevel=4)
    return results


_OUT_OF_BOUNDS = re.compile(r"out-of-bound access of tensor '(.*)' on dimension (\d+): index (-?\d+) ")


def _fault(report, program):
    """What went wrong while it ran, of the builtin kind itself: the vendor's tests compare the class, and for an index
    out of bounds the words: numpy's, for a row of the first axis those of its place in the flat tensor. There, where
    it was stands in a note."""
    line = int(report.get("line") or 0)
    found = make_error(report["code"], f"{report['code']}: {report['message']}", line=line, where=program.file)
    flat = _flat_place(report, program)
    error = type(found).__bases__[1](str(found) if flat is None else flat)
    error.code, error.line = found.code, found.line
    if flat is not None:
        error.add_note(str(found))
    return error


def _flat_place(report, program):
    """How numpy says where an index left a tensor; None for other faults."""
    outside = _OUT_OF_BOUNDS.match(report["message"])
    shapes = [b["shape"] for b in decode(program.data)["buffers"] if outside and b["name"] == outside[1]]
    if not shapes:
        return None
    axis, index = int(outside[2]), int(outside[3])
    if axis or index < 0:
        return f"index {index} is out of bounds for axis {axis} with size {shapes[0][axis]}"
    place, size = index * math.prod(shapes[0][1:]), math.prod(shapes[0])
    return f"index {place} is out of bounds for axis 0 with size {size}"


def causes(data, inputs):
    """Why a run gives undefined results, as texts that name variable, index and line."""
    values = [np.ascontiguousarray(v) for v in inputs]
    pointers, sizes = _pointers(values)
    text = ctypes.create_string_buffer(_REPORT_BYTES)
    library().nkisim_diagnose(
        data, len(data), pointers, sizes, len(values), POISON_NAN_BITS, POISON_INT_BYTE, text, _REPORT_BYTES
    )
    return json.loads(text.value.decode() or "[]")


def run_raw(data, inputs, outputs, nan_bits=POISON_NAN_BITS, int_byte=POISON_INT_BYTE):
    """@param outputs [(shape, dtype name)]. @returns (arrays in host storage, report)"""
    lib = library()
    values = [np.ascontiguousarray(v) for v in inputs]
    results = [_array_for(shape, name) for shape, name in outputs]
    in_pointers, in_sizes = _pointers(values)
    out_pointers, out_sizes = _pointers(results)
    text = ctypes.create_string_buffer(_REPORT_BYTES)
    status = lib.nkisim_run(
        data,
        len(data),
        in_pointers,
        in_sizes,
        len(values),
        out_pointers,
        out_sizes,
        len(results),
        nan_bits,
        int_byte,
        text,
        _REPORT_BYTES,
    )
    report = (
        json.loads(text.value.decode() or "{}")
        if text.value[:1] == b"{"
        else {"message": text.value.decode("utf-8", "replace")}
    )
    if status not in (_OK, _FAULT):
        raise make_error("COMPILER_INTERNAL", f"the engine refused the program: {report.get('message', '')}")
    return results, report


class Latency:
    """kernel.benchmark_result: the engine's estimate in place of a measurement."""

    def __init__(self, program):
        self._program = program

    @property
    def nc_latency(self):
        return self

    def get_latency_percentile(self, _percentile):
        """[us]; an estimate has no spread."""
        return estimate_us(self._program.data)
