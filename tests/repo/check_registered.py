"""Every tests/**/*_test.cpp is compiled and every tests/**/test_*.py is run by some test of the build tree.

A test that nobody registered passes for ever. Usage: check_registered.py BUILD_DIR [--prove]
"""
import json
import re
import sys
from pathlib import Path

import tree


def test_files(root):
    files = [path for pattern in ("*_test.cpp", "test_*.py") for path in sorted((root / "tests").rglob(pattern))]
    return [path for path in files if "data" not in path.relative_to(root / "tests").parts]


def faults_of(files, compiled, registered):
    """
    compiled:   paths that some target compiles
    registered: the text of all CTestTestfile.cmake files: commands with full paths
    """
    faults = []
    for path in files:
        if path.suffix == ".cpp" and str(path) not in compiled:
            faults.append(f"{path}: compiled by no target; list it in nkigrid_test()")
        if path.suffix == ".py" and f'{path}"' not in registered:
            faults.append(f"{path}: run by no test; give it an add_test()")
    return faults


def compiled_files(build):
    """What the compiler is given, and for a batch (a file of CMake's that includes sources) the files in it."""
    files = set()
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["directory"], entry["file"]).resolve()
        files.add(str(path))
        if path.parent.name == "Unity":
            files |= set(members_of(path.read_text()))
    return files


def members_of(batch):
    return re.findall(r'^#include "(/.*)"$', batch, re.M)


def look(build):
    compiled = compiled_files(build)
    registered = "\n".join(path.read_text() for path in build.rglob("CTestTestfile.cmake"))
    files = [path.resolve() for path in test_files(tree.ROOT)]
    tree.finish("registered tests", len(files), faults_of(files, compiled, registered))


def prove():
    files = [
        Path("/r/tests/a/x_test.cpp"),
        Path("/r/tests/a/test_x.py"),
        Path("/r/tests/a/y_test.cpp"),
        Path("/r/tests/a/test_y.py"),
    ]
    found = faults_of(files, {"/r/tests/a/x_test.cpp"}, 'add_test(x "/usr/bin/python3" "/r/tests/a/test_x.py")')
    faults = [] if [fault.split(":")[0] for fault in found] == [str(path) for path in files[2:]] else [f"found {found}"]
    if members_of('/* generated */\n\n#include "/r/tests/a/x_test.cpp"\n') != [str(files[0])]:
        faults.append("the files of a batch are not read")
    tree.finish("registration proof", len(files) + 1, faults)


if __name__ == "__main__":
    prove() if "--prove" in sys.argv else look(Path(sys.argv[1]))
