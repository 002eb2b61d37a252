"""The formatters would change nothing, and no line of code is wider than 120 columns.

C and C++ as .clang-format says, Python as pyproject.toml says; what is data (configs/, tests/data/) is left alone.

Usage: check_format.py            looks at the repository
       check_format.py --prove    looks at made-up faults and fails unless each is found
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import tree

MOST_COLUMNS = 120
CODE = {".cpp", ".hpp", ".c", ".h", ".py", ".sh", ".cmake"}
DATA = ("configs/", "tests/data/")


def tracked():
    """Every file of the repository that is code: what git knows, so that no build folder is among it."""
    names = subprocess.run(["git", "ls-files"], cwd=tree.ROOT, capture_output=True, text=True, check=True).stdout
    paths = [Path(name) for name in names.splitlines() if not name.startswith(DATA)]
    code = [path for path in paths if path.suffix in CODE or path.name in ("CMakeLists.txt", "bootstrap")]
    return [path for path in code if (tree.ROOT / path).is_file()]


def width_faults(path, text):
    return [
        f"{path}:{number}: {len(line)} columns (at most {MOST_COLUMNS})"
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > MOST_COLUMNS
    ]


def formatter_faults(root, paths):
    """Files that their formatter would change. Both say so on stderr, a line or more a file."""
    native = [str(path) for path in paths if path.suffix in tree.SUFFIXES]
    python = [str(path) for path in paths if path.suffix == ".py"]
    faults = []
    for command, files in (
        (["clang-format", "--dry-run", "-Werror"], native),
        (["/usr/bin/python3", "-m", "black", "--check", "--quiet", "--line-length", str(MOST_COLUMNS)], python),
    ):
        if not files:
            continue
        if subprocess.run([*command, *files], cwd=root, capture_output=True).returncode == 0:
            continue
        changed = [f for f in files if subprocess.run([*command, f], cwd=root, capture_output=True).returncode]
        faults += [f"{file}: `{' '.join(command[:3])}` would change it" for file in changed]
    return faults


def look():
    paths = tracked()
    faults = [fault for path in paths for fault in width_faults(path, (tree.ROOT / path).read_text())]
    tree.finish("format", len(paths), faults + formatter_faults(tree.ROOT, paths))


def prove():
    faults = [] if len(width_faults("x", "a" * 120 + "\n" + "a" * 121)) == 1 else ["not noticed: a wide line"]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "bad.cpp").write_text("int  f( ) {return 1;}\n")
        (root / "bad.py").write_text("x = {'a':1}\n")
        (root / "good.py").write_text('x = {"a": 1}\n')
        found = formatter_faults(root, [Path("bad.cpp"), Path("bad.py"), Path("good.py")])
        if [fault.split(":")[0] for fault in found] != ["bad.cpp", "bad.py"]:
            faults.append(f"found {found}")
    tree.finish("format proof", 3, faults)


if __name__ == "__main__":
    prove() if "--prove" in sys.argv else look()
