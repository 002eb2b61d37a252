"""The rules of a kernel file: its imports, its entry, its GRID, the count of its arguments.

Every backend that compiles Python asks here, so that a file has the same entry everywhere. The compile child of the
neuron backend loads this file by its path, beside the vendor's package: it imports nothing of ours and needs nothing
but the standard library."""

import ast
import inspect
import os
import sys

FILE = "kernel.py"
MAX_SOURCE_BYTES = 64 * 1024
ALLOWED = ("neuronxcc", "numpy", "math", "functools", "itertools", "typing", "__future__")


class Refusal(Exception):
    """A kernel file that the rules of a submission refuse before it is traced."""

    def __init__(self, code, stage, line, message):
        super().__init__(message)
        self.code, self.stage, self.line = code, stage, line


def parse(source):
    """(text, syntax tree) of a file whose imports are allowed. @raises Refusal, SyntaxError"""
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
    return source, tree


def statements(tree):
    """Every statement, breadth first; expressions are not entered."""
    queue = [tree]
    for node in queue:
        for field in ("body", "handlers", "orelse", "finalbody", "cases"):
            inner = getattr(node, field, None)
            if type(inner) is list:
                queue += inner
    return queue


def _check_imports(tree):
    for node in statements(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise Refusal(
                    "PY_SYNTAX",
                    "parse",
                    node.lineno,
                    f"ImportError: attempted relative import with no known parent package ({FILE}:{node.lineno})",
                )
            modules = [node.module or ""]
        else:
            continue
        for module in modules:
            check_module(module, node.lineno)


def check_module(module, line):
    """@raises Refusal for a module that a kernel file may not import"""
    root = module.split(".")[0]
    if root == "nki":
        raise Refusal(
            "WRONG_API_ERA",
            "parse",
            line,
            f"ModuleNotFoundError: No module named 'nki' ({FILE}:{line})\n  rule: this is Neuron SDK 2.24, whose "
            "package is neuronxcc.nki; the standalone `nki` package belongs to later SDKs\n  fix: import neuronxcc.nki "
            "as nki; "
            "import neuronxcc.nki.language as nl; import neuronxcc.nki.isa as nisa",
        )
    if root not in ALLOWED or (root == "neuronxcc" and "." in module and not module.startswith("neuronxcc.nki")):
        raise Refusal(
            "PY_SYNTAX",
            "parse",
            line,
            f"ModuleNotFoundError: No module named '{module}' ({FILE}:{line})\n  rule: a kernel file imports "
            "neuronxcc.nki and its parts, numpy, math, functools, itertools, typing\n  fix: remove the import; inside "
            "a kernel use nl and nisa",
        )


def importer(real):
    """`__import__` for a kernel file: the allowed modules only."""

    def restricted(name, globals=None, locals=None, fromlist=(), level=0):
        check_module(name, _line_of_file())
        module = real(name, globals, locals, fromlist, level)
        if name.split(".")[0] == "numpy" and not seeded:
            _seed_numpy()
            seeded.append(True)
        return module

    seeded = []
    return restricted


def _line_of_file():
    """The line of the kernel's file that is being executed, 0 when none is."""
    frame = sys._getframe(1)
    while frame is not None and os.path.basename(frame.f_code.co_filename) != FILE:
        frame = frame.f_back
    return frame.f_lineno if frame is not None else 0


def _seed_numpy():
    """The same source makes the same artifact, in every process: constants drawn from numpy's generators included.

    A generator made without a seed (default_rng(), RandomState()) asks numpy.random.bit_generator.randbits for one."""
    sys.modules["numpy"].random.seed(0)
    source = sys.modules.get("numpy.random.bit_generator")
    if hasattr(source, "randbits"):
        source.randbits = lambda bits: 0


def find_entry(tree, kernels_of_file, wanted):
    """The kernel by interface rule: named `entry`, else `kernel`, else the only one.

    @param kernels_of_file {name: (kernel, nki.jit mode)} of the file's names that are decorated kernels
    @returns the kernel. @raises Refusal that lists what was found"""
    functions = [n.name for n in tree.body if isinstance(n, ast.FunctionDef)]
    functions += ["kernel"] * ("kernel" in kernels_of_file and "kernel" not in functions)  # kernel = build(tile=128)
    found = {name: kernels_of_file[name] for name in functions if name in kernels_of_file}
    kernels = {name: kernel for name, (kernel, mode) in found.items() if mode == "auto"}
    others = [f'{name} (nki.jit mode "{mode}")' for name, (_, mode) in found.items() if mode != "auto"]
    others += [f"{n} (no decorator)" for n in functions if n not in found]
    listing = ", ".join(list(kernels) + others) or "no function at the top level"
    name = wanted or ("kernel" if "kernel" in kernels else None)
    if name is not None and name in kernels:
        return kernels[name]
    if name is None and len(kernels) == 1:
        return next(iter(kernels.values()))
    moded = [n for n in (wanted or "kernel", *found) if n in found and found[n][1] != "auto"]
    if moded and (wanted or not kernels):
        raise _has_a_mode(tree, moded[0], found[moded[0]][1], listing)
    if wanted:
        problem = f"no kernel named '{wanted}'"
    else:
        problem = f"{len(kernels)} kernels, none named 'kernel'" if kernels else "no kernel found"
    raise _no_kernel(problem, listing)


def _has_a_mode(tree, name, mode, listing):
    """The one kernel there is says itself where it runs, or is a helper (mode "trace")."""
    line = next((n.lineno for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name), 0)
    return Refusal(
        "NO_KERNEL",
        "parse",
        line,
        f"'{name}' is decorated with mode \"{mode}\" ({FILE}:{line})\n  found: {listing}\n  rule: who runs the kernel "
        "chooses the mode: the entry has none (nki.baremetal, nki.benchmark, nki.profile and nki.trace are modes)\n"
        f"  fix: write\n    @nki.jit\n    def {name}(...):",
    )


def _no_kernel(problem, listing):
    return Refusal(
        "NO_KERNEL",
        "parse",
        0,
        f"{problem}\n  found: {listing}\n  rule: the entry is the top-level function `kernel` decorated with @nki.jit, "
        "or the "
        "only such function\n  fix: write\n    @nki.jit\n    def kernel(...):",
    )


def _check_decorated(tree):
    """A file without any decorated function has no kernel, whatever it imports: host programs are told so first."""
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    if not any(n.decorator_list for n in functions):
        raise _no_kernel(
            "no kernel found",
            ", ".join(f"{n.name} (no decorator)" for n in functions) or "no function at the top level",
        )


def grid_of(namespace):
    """The file's GRID, () when it sets none. @raises Refusal"""
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
        raise Refusal(
            "NO_KERNEL",
            "parse",
            0,
            f"GRID is {grid!r}\n  rule: GRID is a tuple of 1 to 3 positive integers, at most 65536 instances\n  fix: "
            "GRID = (4, 2)",
        )
    return tuple(grid)


def check_arguments(function, params):
    """@param params [(name, shape, dtype name)] of the task. @raises Refusal when the function does not take exactly
    those"""
    name = getattr(function, "__name__", "kernel")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        raise Refusal("NO_KERNEL", "parse", 0, "the kernel is not a plain function") from None
    line = function.__code__.co_firstlineno
    kinds = inspect.Parameter
    listed = ", ".join(f"{n} {list(s)} {d}" for n, s, d in params)
    positional = [
        p for p in signature.parameters.values() if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)
    ]
    required = [p for p in positional if p.default is kinds.empty]
    starred = any(p.kind == kinds.VAR_POSITIONAL for p in signature.parameters.values())
    missing = [
        p.name for p in signature.parameters.values() if p.kind == kinds.KEYWORD_ONLY and p.default is kinds.empty
    ]
    if starred or missing or not len(required) <= len(params) <= len(positional):
        what = (
            "takes *args"
            if starred
            else f"needs the keyword {missing[0]}"
            if missing
            else f"takes {len(positional)} arguments"
        )
        raise Refusal(
            "NO_KERNEL",
            "parse",
            line,
            f"kernel '{name}' {what}, the task passes {len(params)} ({FILE}:{line})\n  arguments: {listed}\n"
            "  rule: a kernel takes the task's tensors as positional arguments, in this order, and returns its "
            "outputs; no *args, no output arguments\n"
            f"  fix: def {name}({', '.join(n for n, _, _ in params)}):",
        )
