"""From what a vendor's compiler raises and logs to the codes of the taxonomy, and to text that a model may see.

Stage 1 (trace) fails with an ordinary Python exception whose text may end in a link to the error manual: the link's
suffix names the class. Stage 2 (backend) is a program of its own that fails with an exit status; the reason stands in
its log under a bracketed code. Pure functions, no import of the vendor's."""

import re

KERNEL = "kernel.py"
MOST_CHARACTERS = 12_000

# Suffix of the manual's link (#err-...) -> code.
OF_CLASS = {
    "num-partition-exceed-arch-limit": "PARTITION_LIMIT",
    "size-of-dimension-exceed-arch-limit": "MATMUL_LIMIT",
    "num-partition-mismatch": "SHAPE_BROADCAST",
    "store-dst-shape-smaller-than-other-shape": "SHAPE_BROADCAST",
    "failed-to-infer-tile-from-local-tensor": "RANK_LAYOUT",
    "exceed-max-supported-dimension": "RANK_LAYOUT",
    "leading-dimension-of-tensor-must-be-partition": "RANK_LAYOUT",
    "annotation-shape-mismatch": "RANK_LAYOUT",
    "unsupported-memory": "WRONG_MEMORY",
    "activation-bias-invalid-type": "DTYPE",
    "activation-scale-invalid-type": "DTYPE",
    "activation-scale-scalar-or-vector": "DTYPE",
    "transpose-on-tensor-engine-not-allowed-in-allocated-kernel": "UNSUPPORTED_OP",
    "1d-arange-not-supported": "INDEXING",
    "unsupported-mixing-basic-advanced-tensor-indexing": "INDEXING",
    "indirect-indices-free-dim": "INDEXING",
    "indirect-indices-are-not-supported-with-nki-api": "INDEXING",
    "copy-dynamic-indirect-indices-not-natively-supported": "INDEXING",
    "cannot-assign-to-index": "INDEXING",
    "unsupported-expression-in-mask": "INDEXING",
    "tensor-access-out-of-bound": "OOB",
    "dynamic-control-flow-not-supported": "CONTROL_FLOW",
    "control-flow-condition-depending-on-arange": "CONTROL_FLOW",
    "ambiguous-tensor-truth-value": "CONTROL_FLOW",
    "while-loop-requires-unconditional-entry": "CONTROL_FLOW",
    "nested-kernel-with-spmd-grid": "CONTROL_FLOW",
    "nki-api-outside-of-nki-kernel": "CONTROL_FLOW",
    "local-variable-used-out-of-scope": "SCOPE_LOOP_DEP",
    "unexpected-output-dependencies": "SCOPE_LOOP_DEP",
    "cannot-update-immutable-parameter": "OUTPUT_CONTRACT",
    "tensor-output-not-written-to": "OUTPUT_CONTRACT",
    "mutable-parameter-not-returned": "OUTPUT_CONTRACT",
    "shared-hbm-must-in-kernel-level": "OUTPUT_CONTRACT",
    "hbm-tensor-with-init-value-not-supported": "OUTPUT_CONTRACT",
    "bias-tensor-must-be-specified-in-allocation-kernel": "OUTPUT_CONTRACT",
    "tensor-creation-on-scratchpad-with-init-value-not-supported": "OUTPUT_CONTRACT",
}

# Words of messages that come without a link.
OF_WORDS = (
    ("Insufficient rank", "RANK_LAYOUT"),
    ("Failed to infer tile", "RANK_LAYOUT"),
    ("Unexpected partition broadcast", "SHAPE_BROADCAST"),
    ("Reduction on partition ax", "UNSUPPORTED_OP"),
    ("LoopVar", "CONTROL_FLOW"),
    ("immutable parameter", "OUTPUT_CONTRACT"),
    ("outside of its parent scope", "SCOPE_LOOP_DEP"),
    ("missing value for required argument", "BAD_SIGNATURE"),
)

# Bracketed codes of the backend's log, by their beginning; the first that fits speaks. What is not here is
# COMPILER_INTERNAL. NLA: address out of bounds; GCA: the allocator's cost is infinite; EOOM: out of memory; EVRF007,
# EBVF030: too many instructions.
OF_LOG = (
    ("NLA001", "CAPACITY"),
    ("GCA046", "CAPACITY"),
    ("EOOM", "CAPACITY"),
    ("EVRF007", "CAPACITY"),
    ("EBVF030", "CAPACITY"),
)

_LINK = re.compile(r"#err-([a-z0-9-]+)")
_EXIT = re.compile(r"returned non-zero exit status (-?\d+)|died with <Signals\.\w+: (\d+)>")
_PLACE = re.compile(r"\bkernel\.py(?::|\", line |, line )(\d{1,6})\b")
_LOG_CODE = re.compile(r"\b(?:NCC_)?((?:E|I)[A-Z]{3}\d{3}|NLA\d{3}|GCA\d{3}|NKI\d{3}|F\d{3})\b")


def of_trace(error, in_kernel):
    """(code, stage) of an exception of stage 1.

    @param in_kernel True when it was raised by a line of the kernel's file, False inside the compiler"""
    text = words_of(error)
    link = _LINK.search(text)
    if link:
        code = OF_CLASS.get(link.group(1), "COMPILER_INTERNAL")
        # One class of the manual, two codes of ours.
        if code == "SHAPE_BROADCAST" and "matmul" in text:
            code = "MATMUL_LAYOUT"
        if code == "MATMUL_LIMIT" and "transpose" in text:
            code = "RANK_LAYOUT"
        return code, "trace"
    for words, code in OF_WORDS:
        if words in text:
            return code, "trace"
    return _of_kind(error, text, in_kernel)


def _of_kind(error, text, in_kernel):
    if isinstance(error, AttributeError):
        return "UNKNOWN_API", "trace"
    if isinstance(error, TypeError) and any(word in text for word in ("argument", "positional", "unexpected keyword")):
        return "BAD_SIGNATURE", "trace"
    if isinstance(error, (ImportError, NameError)):
        return "PY_SYNTAX", "parse"
    if isinstance(error, SyntaxError):
        # The file has been parsed before: this one is the tracer's own.
        return "CONTROL_FLOW", "trace"
    if isinstance(error, NotImplementedError):
        return "UNSUPPORTED_OP", "trace"
    if "dtype" in text and isinstance(error, (TypeError, ValueError)):
        return "DTYPE", "trace"
    return ("PY_EXCEPTION" if in_kernel else "COMPILER_INTERNAL"), "trace"


def exit_status(text):
    """The exit status of the backend that an exception's text tells (a signal is negative), or None: stage 2 was not
    reached."""
    found = _EXIT.search(text)
    if not found:
        return None
    return int(found.group(1)) if found.group(1) else -int(found.group(2))


def of_log(log):
    """(code, the bracketed code or "") of what the backend wrote."""
    found = _LOG_CODE.findall(log)
    for name in found:
        for beginning, code in OF_LOG:
            if name.startswith(beginning):
                return code, name
    return "COMPILER_INTERNAL", found[0] if found else ""


def line_in(text):
    """The line of the kernel's file that a clean text names first, 0: none."""
    found = _PLACE.search(text)
    return int(found.group(1)) if found else 0


def words_of(error):
    try:
        return str(error)
    except BaseException:  # a hostile __str__
        return "?"


_CLEANING = (
    (
        re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?(?:[ \t]+\d+\b)?"),
        "TIME",
    ),  # logs put the pid after it
    (re.compile(r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"), "TIME"),
    (re.compile(r"\b(pid|PID|process|Process)([ =:]+)\d+"), r"\1\2N"),
    (re.compile(r"0x[0-9a-fA-F]+"), "0x..."),
    (re.compile(r"(?<![\w:/])/(?:[\w.+@~-]+/)*kernel\.py\b"), KERNEL),
    (re.compile(r"(?<![\w:/])/(?:[\w.+@~-]+/)+[\w.+@~-]*"), "..."),
)


def clean(text, most=MOST_CHARACTERS):
    """Text without paths, process numbers, addresses and times of this machine; its middle left out where it is long.
    The manual's links stay."""
    text = text.replace("\0", "")
    if len(text) > 4 * most:  # patterns are for texts of bounded length
        text = text[: 2 * most] + "\n...\n" + text[-2 * most :]
    for pattern, by in _CLEANING:
        text = pattern.sub(by, text)
    if len(text) > most:
        half = most // 2
        text = f"{text[:half]}\n... [{len(text) - 2 * half} characters left out] ...\n{text[-half:]}"
    return text


def tail_of_log(log, lines=40):
    """The lines of a log that tell most: its last ones."""
    return "\n".join(log.strip().splitlines()[-lines:])
