"""Runs a program as an ordinary user, for tests of what must hold without root's help.

usage: as_user.py PROGRAM [ARGUMENT]...

Ends as the program ends; with 77 (ctest: skipped) where root's tree cannot be read by others.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

USER = 100_000 + os.getpid()  # of nobody on a usual machine, nor of another test: limits count a user's processes
SKIPPED = 77


def can_be_read_by_all(path):
    is_open = all(folder.stat().st_mode & 0o005 == 0o005 for folder in path.parents)
    return is_open and path.stat().st_mode & 0o004 != 0


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    if os.geteuid() != 0:
        os.execv(program, [str(program), *sys.argv[2:]])
    named = [program, *map(pathlib.Path, sys.argv[2:]), pathlib.Path(os.environ.get("NKIGRID_BUILD_DIR", "/"))]
    for path in named:
        if path.is_absolute() and path.exists() and not can_be_read_by_all(path):
            print(f"skipped: other users cannot read {path}")
            return SKIPPED
    scratch = tempfile.mkdtemp(prefix="nkigrid-user-")
    try:
        os.chown(scratch, USER, USER)
        environment = os.environ | {"TMPDIR": scratch, "HOME": scratch, "NKIGRID_TEST_CACHE": scratch + "/cache"}
        who = {"user": USER, "group": USER, "extra_groups": []}
        return subprocess.run([program, *sys.argv[2:]], cwd=scratch, env=environment, **who).returncode
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    sys.exit(main())
