"""What tests of other people's tasks share: miniature trees, and the program."""

import os
import subprocess

from known_kernels import ROOT

TREES = ROOT / "tests" / "data" / "trees"
TREE = TREES / "kernelbench"


def program(*words, code=0):
    """What the program says. @returns (stdout, stderr)"""
    ran = subprocess.run([os.environ["NKIGRID"], *map(str, words)], capture_output=True, text=True)
    if ran.returncode != code:
        raise AssertionError(f"{words} ended with {ran.returncode}: {ran.stdout}{ran.stderr}")
    return ran.stdout, ran.stderr


def text_of(name):
    return next(TREE.glob(f"*/*{name}*.py")).read_text()
