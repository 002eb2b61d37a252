"""The trace in progress (one an interpreter), and how to fail in it."""

import dis
import linecache
import re
import sys

from . import errors

_active = []


def current():
    """The innermost trace, or None outside of any."""
    return _active[-1] if _active else None


def push(trace):
    _active.append(trace)


def pop():
    _active.pop()


def trace_or_fail(api="this API"):
    """The active trace. @raises nki_api_outside_of_nki_kernel"""
    if _active:
        return _active[-1]
    raise errors.make_error(
        "CONTROL_FLOW",
        f"{api} is called outside of a kernel",
        rule="NKI calls are legal only while a kernel is traced",
        fix="call it inside a function decorated with @nki.jit",
        official="nki_api_outside_of_nki_kernel",
    )


def kernel_line():
    """The line of the kernel's file that is being executed, 0 if none is on the stack."""
    trace = current()
    if trace is None:
        return 0
    files = trace.files
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename in files:
            return frame.f_lineno
        frame = frame.f_back
    return 0


def own_frame():
    """The innermost frame of the kernel's file, or None."""
    trace, frame = current(), sys._getframe(1)
    while trace is not None and frame is not None and frame.f_code.co_filename not in trace.files:
        frame = frame.f_back
    return frame if trace is not None else None


def _running(prefixes):
    """(frame, source text from there on) of what the kernel's file is doing, where its instruction is one of these."""
    frame = own_frame()
    code, at = (frame.f_code, frame.f_lasti) if frame is not None else (None, 0)
    while (
        code is not None and at > 0 and dis.opname[code.co_code[at]] == "CACHE"
    ):  # of a call of Python's own functions
        at -= 2
    if code is None or not dis.opname[code.co_code[at]].startswith(prefixes):
        return None, ""
    line, _, column, _ = list(code.co_positions())[at // 2]
    text = linecache.getline(code.co_filename, line or 0).encode()[column or 0 :]
    return frame, text.decode("utf-8", "replace")


def called():
    """How the kernel's file writes what it calls just now, as `math.sqrt`; "" where it calls nothing by a name."""
    found = re.match(r"[A-Za-z_][\w.]*(?=\()", _running(("CALL", "PRECALL"))[1])
    return found[0] if found else ""


def subscripted():
    """(name, value) of what the kernel's file takes an item of just now; ("", None) where it does not."""
    frame, text = _running(("BINARY_SUBSCR", "STORE_SUBSCR", "BINARY_SLICE", "STORE_SLICE"))
    found = re.match(r"([A-Za-z_]\w*)\[", text)
    if frame is None or found is None:
        return "", None
    name = found[1]
    return name, frame.f_locals.get(name, frame.f_globals.get(name))


def holder(root):
    """The variable of the kernel's file that is a list, tuple or dict with a tile of this buffer in it; "" for none."""
    files, frame = current().files, sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "trace_call":
        for name, value in frame.f_locals.items() if frame.f_code.co_filename in files else ():
            items = value.values() if type(value) is dict else value if type(value) in (list, tuple) else ()
            if any(getattr(getattr(item, "buffer_", None), "root", None) is root for item in items):
                return name
        frame = frame.f_back
    return ""


def build_error(code, problem, **details):
    """An error at the current line; the first one of a trace sticks to it."""
    trace = current()
    details.setdefault("line", kernel_line())
    if trace is not None:
        details.setdefault("where", trace.file_label)
        if trace.clipped and code in ("SHAPE_BROADCAST", "MATMUL_LAYOUT"):
            details["operands"] = (*details.get("operands", ()), ("clipped", trace.clipped))
    error = errors.make_error(code, problem, **details)
    if trace is not None and trace.error is None and code != "UNKNOWN_API":
        trace.error = error
    return error


def fail(code, problem, **details):
    """Raises the error of build_error()."""
    raise build_error(code, problem, **details)


def warn(text):
    """Records a warning; it never blocks."""
    trace = current()
    if trace is not None:
        line = kernel_line()
        message = f"warning (not blocking): {text}" + (f" ({trace.file_label}:{line})" if line else "")
        if message not in trace.warnings:
            trace.warnings.append(message)


def beyond_documents(code, problem, rule, **details):
    """What the documents of SDK 2.24 forbid and kernels that ran on chips do, most of them built by a later compiler: a
    warning; under Options.strict the error of fail()."""
    trace = current()
    if trace is not None and trace.options.strict:
        fail(code, problem, rule=rule, **details)
    warn(f"{problem}; documents of SDK 2.24: {rule}")


def in_helper():
    """Is a function below the kernel itself running? (Comprehensions are no functions of the user's.)"""
    trace, count, frame = current(), 0, sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "trace_call":
        code = frame.f_code
        if code.co_filename in trace.files and not code.co_name.startswith("<"):
            count += 1
        frame = frame.f_back
    return count > 1
