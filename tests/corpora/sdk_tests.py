"""The documentation's unit tests of NKI, at the tag of SDK 2.24.0."""

import ast
import os
import pathlib

from case import Case, Traced, load

TITLE = "unit tests of the documentation, SDK 2.24.0"
CHECKOUT = "aws-neuron-sdk"
TRN2_ONLY = ("range_select", "double_row")


def _run(path, class_name, method):
    import unittest

    # The documentation's tests expect of its simulator that bfloat16 tiles keep float32 numbers.
    os.environ["NKISIM_BF16_AS_FP32"] = "1"
    module = load(path)
    result = unittest.TestResult()
    getattr(module, class_name)(method).run(result)
    for _, text in result.errors + result.failures:
        last = text.strip().splitlines()[-1]
        raise Traced if last.endswith("Traced") else AssertionError(last)  # unittest catches both


def _is_ours(node):
    """A test that needs no later chip."""
    named = isinstance(node, ast.FunctionDef) and node.name.startswith("test")
    return named and not any(part in node.name for part in TRN2_ONLY)


def cases(root):
    found = []
    for path in sorted(pathlib.Path(root).glob("**/nki/test/test_*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                for item in node.body:
                    if _is_ours(item):
                        run = lambda p=path, c=node.name, m=item.name: _run(p, c, m)  # noqa: E731
                        found.append(Case(f"{path.stem}.{item.name}", run))
    return found
