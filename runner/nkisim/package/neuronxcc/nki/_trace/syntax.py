"""Makes syntax tree nodes that stand at the place of another one."""

import ast

RUNTIME = "__nki__"  # the one free variable by which rewritten code finds its helpers
LOAD, STORE = ast.Load(), ast.Store()


def at(node, old):
    """Gives a made node the first line of `old`: a call that spans lines would report its last one."""
    node.lineno = node.end_lineno = old.lineno
    node.col_offset = old.col_offset
    node.end_col_offset = old.col_offset + 1
    return node


def variable(old, name, context=LOAD):
    return at(ast.Name(name, context), old)


def constant(old, value):
    return at(ast.Constant(value), old)


def attribute(old, value, name):
    return at(ast.Attribute(variable(old, value), name, LOAD), old)


def call(old, function, *args):
    return at(ast.Call(function, list(args), []), old)


def runtime(old, name, *args):
    """A call of runtime.py's function `name`."""
    return call(old, attribute(old, RUNTIME, name), *args)


def local_scope(old):
    return call(old, variable(old, "locals"))


def name_tuple(old, names):
    return at(ast.Tuple([constant(old, n) for n in names], LOAD), old)


def assign(old, name, value):
    return at(ast.Assign([variable(old, name, STORE)], value), old)


def statement(old, expression):
    return at(ast.Expr(expression), old)
