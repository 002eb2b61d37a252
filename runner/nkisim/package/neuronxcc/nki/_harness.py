"""Kernel files to programs: what the tracer child of the device room calls. Never raises, prints nothing."""

import ast
import contextlib
import gc
import inspect
import io
import linecache
import sys

from ._trace import dtypes, errors, names, rewrite
from ._trace.builder import Options
from ._trace.jit import Kernel, trace_call

FILE = "kernel.py"
MAX_SOURCE_BYTES = 64 * 1024
ALLOWED = ("neuronxcc", "numpy", "math", "functools", "itertools", "typing", "__future__")


def version():
    """Which compiler answers: recorded with every result."""
    from .. import __version__
    return f"neuronxcc {__version__}"


class Refusal(Exception):
    """A kernel file that the rules of a submission refuse before it is traced."""

    def __init__(self, code, stage, line, message):
        super().__init__(message)
        self.code, self.stage, self.line = code, stage, line


def compile_source(source, entry, params, outputs, options):
    """Compiles one kernel file.

    @param source the file's text; entry the kernel's name or None; params [(name, shape, dtype name)]; outputs accepted for symmetry,
      shapes are compared when the kernel is verified; options {"sdk", "target", "strict_paper_names"}
    @returns {"ok": True, "program", "entry", "outputs", "warnings"} or {"ok": False, "code", "stage", "line", "message", "warnings"}"""
    warnings = []
    collecting = gc.isenabled()
    gc.disable()  # a trace is short, and a collection would touch every page that a forked child shares
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            program = _compile(source, entry, params, options or {}, warnings)
        return {"ok": True, "program": program.data, "entry": program.entry, "outputs": program.outputs, "warnings": program.warnings}
    except BaseException as error:  # hostile files may raise anything, SystemExit included
        found = getattr(error, "warnings", None)
        if isinstance(found, list):
            warnings = found
        try:
            return _sendable({"ok": False, **_describe(error), "warnings": [errors.clean(str(w)) for w in warnings]})
        except BaseException:
            return {"ok": False, "code": "COMPILER_INTERNAL", "stage": "trace", "line": 0, "message": "the tracer failed on this kernel's error",
                    "warnings": []}
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
    if not isinstance(source, str):
        source = bytes(source).decode("utf-8")
    source = source.removeprefix("\ufeff")  # Python reads a file with a byte order mark
    if len(source.encode("utf-8", "surrogatepass")) > MAX_SOURCE_BYTES:
        raise Refusal("PY_SYNTAX", "parse", 0, f"the file has more than {MAX_SOURCE_BYTES} bytes (the limit is 64 KiB)")
    if "\0" in source:
        raise Refusal("PY_SYNTAX", "parse", 0, "SyntaxError: source code cannot contain null bytes")
    tree = compile(source, FILE, "exec", flags=ast.PyCF_ONLY_AST, dont_inherit=True)
    try:
        _check_imports(tree)
    except Refusal as refusal:
        if refusal.code == "PY_SYNTAX":
            _check_decorated(tree)
        raise
    code = compile(source, FILE, "exec", dont_inherit=True)
    linecache.cache[FILE] = (len(source), None, source.splitlines(True), FILE)
    rewrite.adopt(FILE, "".join(linecache.getlines(FILE)), tree)
    options = Options(options.get("sdk", "2.24"), options.get("target", "trn1"), options.get("strict_paper_names", False))
    namespace = _run_module(code, options)
    kernel = _find_entry(tree, namespace, entry)
    grid = _grid(namespace)
    arrays = _arguments(kernel, params)
    return trace_call(kernel.func, tuple(range(len(params))), {}, arrays, options, grid, FILE)


def _statements(tree):
    """Every statement, breadth first; expressions are not entered."""
    queue = [tree]
    for node in queue:
        for field in ("body", "handlers", "orelse", "finalbody", "cases"):
            inner = getattr(node, field, None)
            if type(inner) is list:
                queue += inner
    return queue


def _check_imports(tree):
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise Refusal("PY_SYNTAX", "parse", node.lineno, f"ImportError: attempted relative import with no known parent package ({FILE}:{node.lineno})")
            modules = [node.module or ""]
        else:
            continue
        for module in modules:
            _check_module(module, node.lineno)


def _check_module(module, line):
    root = module.split(".")[0]
    if root == "nki":
        raise Refusal("WRONG_API_ERA", "parse", line, f"ModuleNotFoundError: No module named 'nki' ({FILE}:{line})\n  rule: this is Neuron SDK 2.24, whose "
                      "package is neuronxcc.nki; the standalone `nki` package belongs to later SDKs\n  fix: import neuronxcc.nki as nki; "
                      "import neuronxcc.nki.language as nl; import neuronxcc.nki.isa as nisa")
    if root not in ALLOWED or (root == "neuronxcc" and "." in module and not module.startswith("neuronxcc.nki")):
        raise Refusal("PY_SYNTAX", "parse", line, f"ModuleNotFoundError: No module named '{module}' ({FILE}:{line})\n  rule: a kernel file imports "
                      "neuronxcc.nki and its parts, numpy, math, functools, itertools, typing\n  fix: remove the import; inside a kernel use nl and nisa")


def _importer(real):
    def restricted(name, globals=None, locals=None, fromlist=(), level=0):
        _check_module(name, 0)
        module = real(name, globals, locals, fromlist, level)
        if name.split(".")[0] == "numpy" and not seeded:
            # The same source makes the same artifact, in every process: constants drawn from numpy's generator included.
            sys.modules["numpy"].random.seed(0)
            seeded.append(True)
        return module
    seeded = []
    return restricted


def _run_module(code, options):
    import builtins
    table = dict(vars(builtins))
    table["__import__"] = _importer(builtins.__import__)
    namespace = {"__name__": "kernel", "__builtins__": table, "__file__": FILE}
    names.last_unknown.clear()
    names.module_options = options
    try:
        exec(code, namespace)
    finally:
        names.module_options = None
    return namespace


def _find_entry(tree, namespace, wanted):
    """The kernel by interface rule: named `entry`, else `kernel`, else the only one."""
    functions = [n.name for n in tree.body if isinstance(n, ast.FunctionDef)]
    found = {name: namespace[name] for name in functions if isinstance(namespace.get(name), Kernel)}
    kernels = {name: k for name, k in found.items() if k.mode == "auto"}
    others = [f"{n} (nki.jit mode \"{k.mode}\")" for n, k in found.items() if k.mode != "auto"]
    others += [f"{n} (no decorator)" for n in functions if n not in found]
    listing = ", ".join(list(kernels) + others) or "no function at the top level"
    name = wanted or ("kernel" if "kernel" in kernels else None)
    if name is not None and name in kernels:
        return kernels[name]
    if name is None and len(kernels) == 1:
        return next(iter(kernels.values()))
    if wanted:
        problem = f"no kernel named '{wanted}'"
    else:
        problem = f"{len(kernels)} kernels, none named 'kernel'" if kernels else "no kernel found"
    raise _no_kernel(problem, listing)


def _no_kernel(problem, listing):
    return Refusal("NO_KERNEL", "parse", 0, f"{problem}\n  found: {listing}\n  rule: the entry is the top-level function `kernel` decorated with @nki.jit, or the "
                   "only such function\n  fix: write\n    @nki.jit\n    def kernel(...):")


def _check_decorated(tree):
    """A file without any decorated function has no kernel, whatever it imports: host programs are told so first."""
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    if not any(n.decorator_list for n in functions):
        raise _no_kernel("no kernel found", ", ".join(f"{n.name} (no decorator)" for n in functions) or "no function at the top level")


def _grid(namespace):
    grid = namespace.get("GRID")
    if grid is None:
        return ()
    product = 1 if isinstance(grid, tuple) else None
    for g in grid if product else ():
        if isinstance(g, bool) or not isinstance(g, int) or g <= 0:
            product = None
            break
        product *= g
    if product is None or not 1 <= len(grid) <= 3 or product > 65536:
        raise Refusal("NO_KERNEL", "parse", 0, f"GRID is {grid!r}\n  rule: GRID is a tuple of 1 to 3 positive integers, at most 65536 instances\n  fix: GRID = (4, 2)")
    return tuple(grid)


def _arguments(kernel, params):
    arrays = {}
    for k, (name, shape, dtype) in enumerate(params):
        found = dtypes.lookup(dtype)
        if found is None:
            raise Refusal("DTYPE", "trace", 0, f"argument {name} has dtype {dtype}\n  rule: NeuronCore-v2 has {dtypes.SUPPORTED}")
        arrays[k] = (name, tuple(int(n) for n in shape), found)
    try:
        signature = inspect.signature(kernel.func)
    except (TypeError, ValueError):
        raise Refusal("NO_KERNEL", "parse", 0, "the kernel is not a plain function") from None
    line = kernel.func.__code__.co_firstlineno
    kinds = inspect.Parameter
    listed = ", ".join(f"{n} {list(s)} {d}" for n, s, d in params)
    positional = [p for p in signature.parameters.values() if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    required = [p for p in positional if p.default is kinds.empty]
    starred = any(p.kind == kinds.VAR_POSITIONAL for p in signature.parameters.values())
    missing = [p.name for p in signature.parameters.values() if p.kind == kinds.KEYWORD_ONLY and p.default is kinds.empty]
    if starred or missing or not len(required) <= len(params) <= len(positional):
        what = "takes *args" if starred else f"needs the keyword {missing[0]}" if missing else f"takes {len(positional)} arguments"
        raise Refusal("NO_KERNEL", "parse", line, f"kernel '{kernel.__name__}' {what}, the task passes {len(params)} ({FILE}:{line})\n  arguments: {listed}\n"
                      "  rule: a kernel takes the task's tensors as positional arguments, in this order, and returns its outputs; no *args, no output arguments\n"
                      f"  fix: def {kernel.__name__}({', '.join(n for n, _, _ in params)}):")
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
        return {"code": error.code, "stage": "trace", "line": line, "message": errors.clean(f"{type(error).__name__}: {error}")}
    if isinstance(error, SyntaxError):
        return _syntax(error)
    line = _own_line(error)
    words = _words(error)
    text = f"{type(error).__name__}: {words} ({FILE}:{line})"
    code, stage, more = _foreign(error, words)
    return {"code": code, "stage": stage, "line": line, "message": errors.clean(text + more)}


def _words(error):
    try:
        return str(error)
    except BaseException:  # a hostile __str__
        return "?"


def _syntax(error):
    line = error.lineno or 0
    text = f'  File "{FILE}", line {line}\n'
    if error.text:
        text += f"    {error.text.rstrip()}\n"
    return {"code": "PY_SYNTAX", "stage": "parse", "line": line, "message": errors.clean(f"{text}{type(error).__name__}: {error.msg}")}


def _foreign(error, text):
    """(code, stage, advice) of an exception that Python itself raised in the kernel's file."""
    functions = [name for name, _ in _own_frames(error)]
    stage = "parse" if functions and all(name == "<module>" for name in functions) else "trace"
    if "LoopVar" in text:
        return "CONTROL_FLOW", "trace", ("\n  rule: a loop body is traced once, with a symbolic index\n"
                                         "  fix: use nl.static_range, or one tensor with a leading block index")
    if isinstance(error, AttributeError):
        return "UNKNOWN_API", stage, ""
    if isinstance(error, TypeError) and ("argument" in text or "positional" in text or "unexpected keyword" in text):
        return "BAD_SIGNATURE", stage, ""
    return "PY_SYNTAX", stage, ""


_WARM = '''
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
'''


def warm_up():
    """Traces small kernels and one faulty one, so that forked children start warm. @returns True when they gave what they should."""
    params = [("x", (200, 512), "float32"), ("w", (128, 128), "float32")]
    good = compile_source(_WARM, None, params, None, {})
    bad = compile_source(_WARM.replace("nl.exp", "nl.exq"), None, params, None, {})
    wide = compile_source(_WARM.replace("nl.load(w)", "nl.load(x)"), None, params, None, {})
    linecache.cache.pop(FILE, None)
    return good["ok"] and bad.get("code") == "UNKNOWN_API" and wide.get("code") == "PARTITION_LIMIT"
