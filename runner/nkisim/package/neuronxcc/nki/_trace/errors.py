"""Errors of the tracer: the official exception kinds, each with the code that the harness records."""

import re
import types

DOCS = "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/general/nki/api/nki.errors.html#err-"

# code -> exception kind where no official class says otherwise
_KIND = {
    "PY_SYNTAX": SyntaxError,
    "NO_KERNEL": ValueError,
    "WRONG_API_ERA": ImportError,
    "UNKNOWN_API": AttributeError,
    "BAD_SIGNATURE": TypeError,
    "PARTITION_LIMIT": ValueError,
    "MATMUL_LIMIT": ValueError,
    "MATMUL_LAYOUT": ValueError,
    "SHAPE_BROADCAST": ValueError,
    "RANK_LAYOUT": TypeError,
    "WRONG_MEMORY": TypeError,
    "DTYPE": TypeError,
    "UNSUPPORTED_OP": NotImplementedError,
    "INDEXING": SyntaxError,
    "OOB": IndexError,
    "CONTROL_FLOW": SyntaxError,
    "SCOPE_LOOP_DEP": SyntaxError,
    "OUTPUT_CONTRACT": RuntimeError,
    "CAPACITY": ValueError,
}
# official class -> its exception kind, where it differs from the code's
_OFFICIAL_KIND = {
    "cannot_assign_to_index": TypeError,
    "cannot_update_immutable_parameter": TypeError,
    "annotation_shape_mismatch": TypeError,
    "exceed_max_supported_dimension": ValueError,
    "copy_dynamic_indirect_indices_not_natively_supported": NotImplementedError,
    "indirect_indices_free_dim": NotImplementedError,
    "activation_scale_scalar_or_vector": ValueError,
    "nested_kernel_with_spmd_grid": RuntimeError,
    "nki_api_outside_of_nki_kernel": RuntimeError,
}


class NkiError(Exception):
    """Mixed into every exception that the tracer raises.

    `code` is the taxonomy's, `line` the line of the submitted file (0: none), `official` the manual's class name or "".
    """

    code = "COMPILER_INTERNAL"
    line = 0
    official = ""


_classes = {}


def error_class(kind):
    """`kind` with NkiError mixed in; one class a kind."""
    if kind not in _classes:
        _classes[kind] = type(kind.__name__, (NkiError, kind), {"__module__": "neuronxcc.nki"})
    return _classes[kind]


def make_error(code, problem, *, rule="", fix="", operands=(), official="", kind=None, line=0, where="kernel.py"):
    """Builds the exception: problem with its line, operands, rule, one fix, the manual's link."""
    parts = [f"{problem} ({where}:{line})" if line else problem]
    parts += [f"  {name}: {describe_operand(value)}" for name, value in operands]
    if rule:
        parts.append(f"  rule: {rule}")
    if fix:
        parts.append(f"  fix: {fix}")
    if official:
        parts.append(f"Info on how to fix: {DOCS}{official.replace('_', '-')}")
    error = error_class(kind or _OFFICIAL_KIND.get(official) or _KIND.get(code, RuntimeError))("\n".join(parts))
    error.code, error.line, error.official = code, line, official
    return error


def describe_operand(value):
    """`[128, 512] float32 in sbuf`, or the Python value."""
    shape = getattr(value, "shape", None)
    memory = getattr(value, "memory", None)
    if memory is not None:
        return f"{list(shape)} {value.dtype} in {memory}"
    if shape and hasattr(value, "dtype"):
        return f"{list(shape)} {value.dtype} on the host"
    if hasattr(value, "slots"):
        return f"index {value}" + (f" of shape {list(shape)}" if shape else "")
    if isinstance(value, types.ModuleType):
        return f"module {value.__name__}"
    text = str(value)
    return text if len(text) <= 160 else text[:157] + "..."


# Compiled when the first message is cleaned: most traces have none.
_ADDRESS = r"0x[0-9a-fA-F]+"
_PATH = r"""(?<=['"( ])/(?:[\w.+-]+/)+[\w.+-]*"""
_CONTROL = r"[^\n\t -~]"


def clean(text):
    """Text that may reach a model or a terminal: without addresses and paths, with what cannot be printed escaped."""
    return re.sub(_CONTROL, _printable, re.sub(_PATH, "...", re.sub(_ADDRESS, "0x...", text)))


def _printable(found):
    character = found.group()
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
