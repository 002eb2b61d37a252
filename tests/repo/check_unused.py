"""No function that nobody calls: in C++ none that every program leaves out, in Python none that is named nowhere else.

The build gives each function a section of its own and the linker drops those that nothing reaches: what a room's
library defines and no program holds is unused, or used by tests alone.

Usage: check_unused.py BUILD            looks at the repository and at the programs of a build
       check_unused.py BUILD --prove    looks at made-up faults and fails unless each is found
"""
import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import tree

PROGRAMS = (
    "nkigrid",
    "nkigrid_slurm.so",
    "nkigrid_mpi.so",
    "nkigrid_http.so",
    "nkisim/neuronxcc/_engine.so",
    "libexec/nkigrid_run_server",
    "libexec/nkigrid_nrt_run",
    "libexec/nkigrid_confine",
    "libexec/libnkigrid_sandbox.so",
)
# What is kept though no program calls it, and why. Names as `nm -C` prints them, up to the parameters.
KEPT = {
    "nkigrid::mpi::run_in_process": "the communicator of tests: n ranks as threads",
    "nkigrid::ManualClock::advance": "the clock of tests",
    "nkigrid::ManualClock::monotonic": "the clock of tests",
    "nkigrid::ManualClock::unix_seconds": "the clock of tests",
}
# Python that is called by others than us.
KEPT_PYTHON = {
    "cmake_args": "called by Spack",
    "auto_alloc": "part of the vendor's interface",
    "nisa_dropout": "found by its prefix, as nki.isa.dropout",
    "handle_error": "called by socketserver",
    "connection_made": "called by asyncio",
    "data_received": "called by asyncio",
    "tearDown": "called by unittest",
    "parametrize": "called as pytest.mark.parametrize",
}
PYTHON_FOLDERS = ("packaging", "runner", "tests")
NAMING = (".py", ".cpp", ".hpp", ".h", ".c", ".txt", ".cmake", ".sh", ".def", "")


def symbols(path, kinds):
    """Demangled names, without parameters, of the functions of these nm kinds in a library or program."""
    lines = subprocess.run(["nm", "-C", "--defined-only", path], capture_output=True, text=True).stdout.splitlines()
    rows = (line.split(" ", 2) for line in lines)
    return {base_name(row[2]) for row in rows if len(row) == 3 and row[1] in kinds and row[2].startswith("nkigrid::")}


def base_name(symbol):
    return re.sub(r"\[abi:\w+\]", "", symbol.split("(")[0])


def unused_cpp(defined, held):
    return [
        f"{name}: no program calls it; remove it, or name a reason here"
        for name in sorted(defined - held - KEPT.keys())
        if not name.endswith("::operator=")  # move and copy come together
    ]


def unused_python(texts, kept):
    """
    texts: path -> source, of everything in which a function may be named
    """
    words = Counter(word for text in texts.values() for word in re.findall(r"\w+", text))
    faults = []
    for path, text in texts.items():
        if path.suffix != ".py":
            continue
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.FunctionDef) or node.name in kept or re.match(r"__|test_", node.name):
                continue
            if words[node.name] < 2:
                faults.append(f"{path}:{node.lineno}: {node.name}() is named nowhere else; remove it")
    return faults


def python_texts():
    found = [path for folder in PYTHON_FOLDERS for path in (tree.ROOT / folder).rglob("*")]
    files = [path for path in found if path.is_file() and path.suffix in NAMING and "data" not in path.parts]
    return {path.relative_to(tree.ROOT): path.read_text(encoding="utf-8", errors="replace") for path in sorted(files)}


def look(build):
    missing = [name for name in PROGRAMS if not (build / name).exists()]
    if missing:
        tree.finish("unused functions", 1, [f"{build / name} is not built" for name in missing])
    libraries = [path for top in ("jobs", "runner", "slurm", "aggregate", "cli") for path in (build / top).rglob("*.a")]
    defined = set().union(*(symbols(path, "T") for path in libraries))
    held = set().union(*(symbols(build / name, "TtWw") for name in PROGRAMS))
    texts = python_texts()
    faults = unused_cpp(defined, held) + unused_python(texts, KEPT_PYTHON)
    tree.finish("unused functions", len(defined) + len(texts), faults)


def prove():
    faults = []
    if len(unused_cpp({"nkigrid::a", "nkigrid::b"}, {"nkigrid::a"})) != 1:
        faults.append("not noticed: a function that no program holds")
    texts = {Path("a.py"): "def used():\n    pass\n\n\ndef idle():\n    used()\n", Path("b.cpp"): "unrelated"}
    if [fault.split(" ")[1] for fault in unused_python(texts, {})] != ["idle()"]:
        faults.append("not noticed: a Python function that is named nowhere")
    if base_name("nkigrid::x::f[abi:cxx11](int, char)") != "nkigrid::x::f":
        faults.append("a name is not cut at its parameters")
    tree.finish("unused functions proof", 3, faults)


if __name__ == "__main__":
    prove() if "--prove" in sys.argv else look(Path(sys.argv[1]))
