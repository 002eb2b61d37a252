"""Kernel files to programs: what the tracer child of the device room calls. Never raises, prints nothing."""

import builtins
import contextlib
import gc
import io
import linecache
import os
import sys

from .. import __version__
from ._entry import FILE, Refusal, check_arguments, find_entry, grid_of, importer, parse
from ._trace import checks, dtypes, errors, names, rewrite
from ._trace.builder import Options
from ._trace.jit import trace_call
from ._trace.kernel import Kernel


def version():
    """Which compiler answers: recorded with every result."""
    return f"neuronxcc {__version__}"


def compile_source(source, entry, params, outputs, options):
    """Compiles one kernel file.

    @param source the file's text; entry the kernel's name or None; params [(name, shape, dtype name)]; outputs accepted
      for symmetry,
      shapes are compared when the kernel is verified; options {"sdk", "target", "strict_paper_names", "strict"}
    @returns {"ok": True, "program", "entry", "outputs", "warnings"} or {"ok": False, "code", "stage", "line",
      "message", "warnings"}
    """
    warnings = []
    collecting = gc.isenabled()
    gc.disable()  # a trace is short, and a collection would touch every page that a forked child shares
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            program = _compile(source, entry, params, options or {}, warnings)
        return {
            "ok": True,
            "program": program.data,
            "entry": program.entry,
            "outputs": program.outputs,
            "warnings": program.warnings,
        }
    except BaseException as error:  # hostile files may raise anything, SystemExit included
        found = getattr(error, "warnings", None)
        if isinstance(found, list):
            warnings = found
        try:
            return _sendable({"ok": False, **_describe(error), "warnings": [errors.clean(str(w)) for w in warnings]})
        except BaseException:
            return {
                "ok": False,
                "code": "COMPILER_INTERNAL",
                "stage": "trace",
                "line": 0,
                "message": "the tracer failed on this kernel's error",
                "warnings": [],
            }
    finally:
        if collecting:
            gc.enable()


def _sendable(refusal):
    """What a kernel raises may name any line and hold any text: a line counts from 1 (0: none), text is valid UTF-8."""
    refusal["line"] = refusal["line"] if isinstance(refusal["line"], int) and 0 < refusal["line"] < 1 << 31 else 0
    refusal["message"] = refusal["message"].encode("utf-8", "replace").decode()
    refusal["warnings"] = [w.encode("utf-8", "replace").decode() for w in refusal["warnings"]]
    return refusal


def _compile(source, entry, params, options, warnings):
    source, tree = parse(source)
    code = compile(source, FILE, "exec", dont_inherit=True)
    linecache.cache[FILE] = (len(source), None, source.splitlines(True), FILE)
    rewrite.adopt(FILE, "".join(linecache.getlines(FILE)), tree)
    options = Options(
        options.get("sdk", "2.24"),
        options.get("target", "trn1"),
        options.get("strict_paper_names", False),
        strict=options.get("strict", ""),
    )
    namespace = _run_module(code, options)
    kernels = {name: (value, value.mode) for name, value in namespace.items() if isinstance(value, Kernel)}
    kernel = find_entry(tree, kernels, entry)
    grid = grid_of(namespace)
    arrays = _arguments(kernel, params)
    return trace_call(kernel.func, tuple(range(len(params))), {}, arrays, options, grid, FILE)


def _run_module(code, options):
    table = dict(vars(builtins))
    table["__import__"] = importer(builtins.__import__)
    namespace = {"__name__": "kernel", "__builtins__": table, "__file__": FILE}
    names.last_unknown.clear()
    names.module_options = options
    try:
        exec(code, namespace)
    finally:
        names.module_options = None
    return namespace


def _arguments(kernel, params):
    arrays = {}
    for k, (name, shape, dtype) in enumerate(params):
        found = dtypes.lookup(dtype)
        if found is None:
            raise Refusal(
                "DTYPE", "trace", 0, f"argument {name} has dtype {dtype}\n  rule: NeuronCore-v2 has {dtypes.SUPPORTED}"
            )
        arrays[k] = (name, tuple(int(n) for n in shape), found)
    check_arguments(kernel.func, params)
    return arrays


def _own_frames(error):
    """(function name, line) of the kernel's file on the traceback, outermost first; reads no files."""
    frames, cursor = [], error.__traceback__
    while cursor is not None:
        code = cursor.tb_frame.f_code
        if code.co_filename == FILE:
            frames.append((code.co_name, cursor.tb_lineno))
        cursor = cursor.tb_next
    return frames


def _own_line(error):
    frames = _own_frames(error)
    return frames[-1][1] if frames else 0


def _describe(error):
    if isinstance(error, Refusal):
        return {"code": error.code, "stage": error.stage, "line": error.line, "message": errors.clean(str(error))}
    unknown = (getattr(error, "unknown", None) or []) + names.last_unknown
    if isinstance(error, (ImportError, AttributeError)) and not isinstance(error, errors.NkiError) and unknown:
        line = _own_line(error)
        error = unknown[-1]
        error.line = error.line or line
    if isinstance(error, errors.NkiError):
        line = error.line or _own_line(error)
        return {
            "code": error.code,
            "stage": "trace",
            "line": line,
            "message": errors.clean(f"{type(error).__name__}: {error}"),
        }
    inside = _inside(error)
    if isinstance(error, SyntaxError) and not inside:
        return _syntax(error)
    line = _own_line(error)
    place = f" ({FILE}:{line})" if line else ""
    if inside and not isinstance(error, (TypeError, ValueError, OverflowError)):
        code, stage, text = (
            "COMPILER_INTERNAL",
            "trace",
            (
                f"the tracer failed here by a fault of its own: {type(error).__name__} in {inside}{place}\n"
                "  rule: what a kernel does wrong is told in its own words; this is not known to be the kernel's "
                "fault\n"
                "  fix: write this statement in another way"
            ),
        )
    elif inside:
        code, stage, text = (
            "BAD_SIGNATURE",
            "trace",
            (
                f"{type(error).__name__}: {inside}() was given a value that it does not take: {_words(error)}{place}\n"
                "  rule: arguments follow the documented signature\n  fix: check the kind of each argument of this call"
            ),
        )
    else:
        words = _words(error) or _statement(line)
        code, stage, more = _foreign(error, words)
        text = f"{type(error).__name__}: {words}{place}{more}"
    return {"code": code, "stage": stage, "line": line, "message": errors.clean(text)}


_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def _inside(error):
    """The function of this package that a kernel called and that failed in code of its own, or "".

    Nothing that this package says to a kernel on purpose arrives here, but for the AttributeError of a name that it is
    probed for.
    """
    if isinstance(error, (RecursionError, MemoryError, KeyboardInterrupt, SystemExit)):
        return ""
    entered, last, cursor = "", "", error.__traceback__
    while cursor is not None:
        code = cursor.tb_frame.f_code
        if code.co_filename == FILE:
            entered = ""
        elif code.co_filename.startswith(_PACKAGE) and code.co_filename not in (__file__, _PACKAGE + "_entry.py"):
            last = code.co_name
            entered = entered if entered and entered != "call" else last  # `call` wraps every function of nl and nisa
        cursor = cursor.tb_next
    return "" if last == "__getattr__" else entered


def _words(error):
    try:
        return str(error)
    except BaseException:  # a hostile __str__
        return "?"


def _statement(line):
    """The first line of the statement that raised without a word, as `assert rows <= 128` does."""
    return (
        linecache.cache[FILE][2][line - 1].strip()
        if FILE in linecache.cache and 0 < line <= len(linecache.cache[FILE][2])
        else ""
    )


def _syntax(error):
    line = error.lineno or 0
    text = f'  File "{FILE}", line {line}\n'
    if error.text:
        text += f"    {error.text.rstrip()}\n"
    return {
        "code": "PY_SYNTAX",
        "stage": "parse",
        "line": line,
        "message": errors.clean(f"{text}{type(error).__name__}: {error.msg}"),
    }


def _foreign(error, text):
    """(code, stage, advice) of an exception that Python itself raised in the kernel's file."""
    functions = [name for name, _ in _own_frames(error)]
    stage = "parse" if functions and all(name == "<module>" for name in functions) else "trace"
    if isinstance(error, RecursionError):
        return _recursion(functions)
    if "LoopVar" in text:
        return (
            "CONTROL_FLOW",
            "trace",
            (
                "\n  rule: a loop body is traced once, with a symbolic index\n"
                "  fix: use nl.static_range, or one tensor with a leading block index"
            ),
        )
    if isinstance(error, IndexError) and _short_list(error):
        return (
            "CONTROL_FLOW",
            "trace",
            (
                f"\n  rule: the body of a symbolic loop is traced once: '{_short_list(error)}' holds the tiles of one "
                "trip"
                "\n  fix: use nl.static_range for a list of tiles, or one tensor with a leading block index"
            ),
        )
    if isinstance(error, AttributeError):
        return "UNKNOWN_API", stage, ""
    if isinstance(error, TypeError) and "bytes-like object" in text:
        return (
            "DTYPE",
            stage,
            (
                "\n  rule: numpy has no bfloat16 and float8: an array of them holds plain bytes"
                "\n  fix: make the array np.float32 and give dtype= to the call that takes it: "
                "nl.shared_constant(np.eye(128, dtype=np.float32), dtype=nl.bfloat16)"
            ),
        )
    if isinstance(error, TypeError) and ("argument" in text or "positional" in text or "unexpected keyword" in text):
        return "BAD_SIGNATURE", stage, ""
    if isinstance(error, (SyntaxError, ImportError, NameError)):
        return "PY_SYNTAX", stage, ""
    return "PY_EXCEPTION", stage, _raised(error)


def _raised(error):
    """What to know of an exception that is the kernel's own doing."""
    if isinstance(error, AssertionError):
        return (
            "\n  rule: an assert of the kernel file itself did not hold for this task's arguments"
            "\n  fix: handle these shapes, or correct the assertion"
        )
    return (
        "\n  rule: the kernel's own Python raised this; a kernel runs once, on the host, while it is traced"
        "\n  fix: correct the statement at this line"
    )


def _short_list(error):
    """The variable that is a list of tiles of a symbolic loop, in the function of the kernel's file that failed; "" for
    none."""
    frame, cursor = None, error.__traceback__
    while cursor is not None:
        frame = cursor.tb_frame if cursor.tb_frame.f_code.co_filename == FILE else frame
        cursor = cursor.tb_next
    for name, value in frame.f_locals.items() if frame is not None else ():
        if type(value) is list and any(checks.is_tensor(v) and v.buffer_.root.region.kind == "loop" for v in value):
            return name
    return ""


def _recursion(functions):
    """A helper that calls itself too often; without any function on the stack the text itself is nested too deep."""
    limit = sys.getrecursionlimit()
    if not functions:
        return (
            "PY_SYNTAX",
            "parse",
            (
                f"\n  rule: expressions and blocks nest less deep than Python's limit of {limit}\n"
                "  fix: split the longest expression into several statements"
            ),
        )
    turning = sorted({name for name in functions if functions.count(name) > limit // 20}) or functions[-1:]
    named = " and ".join(f"'{name}'" for name in turning[:3])
    return (
        "CONTROL_FLOW",
        "trace",
        (
            f"\n  rule: Python runs a kernel while it is traced: calls nest at most {limit} deep, here of {named}\n"
            "  fix: end the recursion by a Python value (a shape, a count), or write it as a loop"
        ),
    )


_WARM = """
import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.typing as nt


@nki.jit
def kernel(x, w):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.arange(128)[:, None], nl.arange(512)[None, :]
    identity = nl.load(w)
    for i in nl.affine_range(2):
        tile: nt.tensor[128, 512] = nl.load(x[i * 128 + i_p, i_f], mask=(i * 128 + i_p < x.shape[0]))
        acc = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
        for k in range(2):
            acc += nisa.nc_matmul(identity, tile)
        if i > 0:
            tile[...] = nl.exp(tile - nl.max(tile, axis=1, keepdims=True)) * 0.5
        soft = nl.softmax(nl.where(tile > 0, tile, 0.0), axis=1)
        turned = nl.transpose(soft[:, 0:128])
        act = nisa.activation(op=np.exp, data=acc, scale=2.0)
        y = nisa.tensor_tensor(act, soft, op=np.add)
        nl.store(out[i * 128 + i_p, i_f], value=y, mask=(i * 128 + i_p < x.shape[0]))
    return out
"""


_WARM_PARAMS = [("x", (200, 512), "float32"), ("w", (128, 128), "float32")]


def warm_up():
    """Traces small kernels and two faulty ones, so that forked children start warm. @returns True when they gave what
    they should."""
    good = touch()
    bad = compile_source(_WARM.replace("nl.exp", "nl.exq"), None, _WARM_PARAMS, None, {})
    wide = compile_source(_WARM.replace("nl.load(w)", "nl.load(x)"), None, _WARM_PARAMS, None, {})
    linecache.cache.pop(FILE, None)
    return good and bad.get("code") == "UNKNOWN_API" and wide.get("code") == "PARTITION_LIMIT"


def touch():
    """One small trace: a forked child that waits makes the pages that it will write its own. @returns True when it
    compiled"""
    good = compile_source(_WARM, None, _WARM_PARAMS, None, {})["ok"]
    linecache.cache.pop(FILE, None)
    return good
