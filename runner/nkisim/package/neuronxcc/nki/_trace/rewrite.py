"""Rewritten functions: source through linecache, closures and defaults kept, one rewrite a code object."""

import ast
import linecache
import types

from . import context, host
from .ast_pass import Rewriter
from .syntax import RUNTIME, at, constant

# Keyed by identity: equal code objects may differ in annotations and files. The values keep their keys alive.
_code_cache = {}  # id of the original code -> (original, rewritten)
_own_codes = {}  # id -> codes that are rewritten already (nested functions)
_adopted = []
_tree_cache = {}  # (file, source) -> top-level definitions by (name, first line), until used


def rewritten(function, runtime):
    """The traced form of a plain function, with `runtime` as the module that it finds in its closure by the name
    RUNTIME.

    @raises PY_SYNTAX when its source cannot be found."""
    code = function.__code__
    if id(code) in _own_codes:
        return function
    if id(code) not in _code_cache:
        _code_cache[id(code)] = (code, _rewrite(function))
        _remember(_code_cache[id(code)][1])
    new = _code_cache[id(code)][1]
    cells = dict(zip(code.co_freevars, function.__closure__ or ()))
    cells[RUNTIME] = types.CellType(runtime)  # a free variable: the user's module gets no name
    closure = tuple(cells[name] for name in new.co_freevars)
    out = types.FunctionType(new, function.__globals__, function.__name__, function.__defaults__, closure or None)
    out.__kwdefaults__ = function.__kwdefaults__
    out.__qualname__ = function.__qualname__
    return out


def _remember(code):
    _own_codes[id(code)] = code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _remember(constant)


def _rewrite(function):
    code = function.__code__
    node = _definition(function)
    _mangle(node, function.__qualname__)
    node.decorator_list = []
    node.returns = None
    for arg in node.args.args + node.args.kwonlyargs + node.args.posonlyargs:
        arg.annotation = None
    node.args.defaults = [constant(node, None) for _ in node.args.defaults]
    node.args.kw_defaults = [None if d is None else constant(node, None) for d in node.args.kw_defaults]
    node = Rewriter(_api_test(function)).visit(node)
    free = [at(ast.arg(n), node) for n in (*code.co_freevars, RUNTIME)]
    # A function that calls itself by a global name must not find the factory's.
    body = [node] if node.name in code.co_freevars else [at(ast.Global([node.name]), node), node]
    factory = at(ast.FunctionDef("__nki_factory", ast.arguments([], free, None, [], [], None, []), body, []), node)
    compiled = compile(ast.Module([factory], []), code.co_filename, "exec", dont_inherit=True)
    outer = next(c for c in compiled.co_consts if isinstance(c, types.CodeType))
    return next(c for c in outer.co_consts if isinstance(c, types.CodeType) and c.co_name == node.name)


def _mangle(node, qualname):
    """Private attributes of a method keep the class's prefix: it is compiled outside of its class."""
    owner = qualname.split(".")[-2:-1]
    prefix = "_" + owner[0].lstrip("_") if owner and owner[0] != "<locals>" else ""
    for inner in ast.walk(node) if prefix else ():
        if isinstance(inner, ast.Attribute) and inner.attr.startswith("__") and not inner.attr.endswith("__"):
            inner.attr = prefix + inner.attr


def _api_test(function):
    """Does `name.attribute` in this function mean something of a module that is not the user's?"""
    local, names, files = _local_names(function.__code__), function.__globals__, context.current().files

    def is_api(name, attribute):
        module = names.get(name)
        if not isinstance(module, types.ModuleType) or name in local:
            return False
        found = vars(module).get(attribute)
        if found is None or host.is_maker(found):
            return False
        return not (isinstance(found, types.FunctionType) and found.__code__.co_filename in files)

    return is_api


def _local_names(code):
    """Names of variables of a function and of those inside it."""
    names = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _local_names(constant)
    return names


def adopt(file, source, tree):
    """Takes the syntax tree that the caller has parsed already; it is changed.

    It is kept until the next one: a child answers once, and would free a thousand nodes while somebody waits."""
    _adopted[:] = [tree]
    _tree_cache[(file, source)] = _top_level(tree)


def _top_level(tree):
    return {_place(n): n for n in tree.body if isinstance(n, ast.FunctionDef)}


def _definition(function):
    """The function's own syntax tree, free to be changed: top-level definitions are handed out once, others from a
    fresh parse."""
    code = function.__code__
    source = "".join(linecache.getlines(code.co_filename, function.__globals__))
    if not source:
        context.fail(
            "PY_SYNTAX",
            f"the source of '{function.__name__}' cannot be found",
            rule="kernels are traced from their source text",
            fix="put the kernel in a file",
            kind=OSError,
        )
    key = (code.co_filename, source)
    if key not in _tree_cache:
        _tree_cache[key] = _top_level(ast.parse(source))
    node = _tree_cache[key].pop((code.co_name, code.co_firstlineno), None)
    if node is not None:
        return node
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and _place(node) == (code.co_name, code.co_firstlineno):
            return node
    context.fail(
        "PY_SYNTAX",
        f"the definition of '{function.__name__}' is not at line {code.co_firstlineno} of its file",
        rule="kernels and helpers are plain `def` functions",
        fix="write it as a def statement",
        kind=OSError,
    )


def _place(node):
    return node.name, min([d.lineno for d in node.decorator_list] + [node.lineno])
