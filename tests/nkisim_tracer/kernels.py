"""Shared by the tests: compile short kernels by their bodies."""

import textwrap

from neuronxcc.nki import _harness
from neuronxcc.nki._trace.decode import decode, walk

HEAD = """import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.typing as nt

"""
HEAD_LINES = HEAD.count("\n")
X = [("x", (256, 512), "float32")]


def file_of(body, params, before=""):
    """A kernel file whose entry has this body; the body's first line is line HEAD_LINES + before's lines + 3."""
    names = ", ".join(n for n, _, _ in params)
    return (
        HEAD
        + before
        + f"@nki.jit\ndef kernel({names}):\n"
        + textwrap.indent(textwrap.dedent(body).strip("\n") + "\n", "    ")
    )


def compile_body(body, params=X, before="", **options):
    return _harness.compile_source(file_of(body, params, before), None, params, None, options)


def compile_file(source, params=X, entry=None, **options):
    return _harness.compile_source(textwrap.dedent(source), entry, params, None, options)


def program_of(body, params=X, before="", **options):
    result = compile_body(body, params, before, **options)
    if not result["ok"]:
        raise AssertionError(f"{result['code']} line {result['line']}: {result['message']}")
    return decode(result["program"])


def nodes_of(program, kind=None):
    return [n for n in walk(program["body"]) if kind is None or n["node"] == kind]


def instructions(program):
    return [n["instr"] for n in walk(program["body"]) if "instr" in n]
