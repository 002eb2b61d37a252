"""What the repository checks share: the rooms, and every tracked kind of source file with its includes."""
import os
import re
import sys
from pathlib import Path

ROOT = Path(os.environ.get("NKIGRID_SOURCE_DIR", Path(__file__).resolve().parents[2]))

# Folder -> room. The longest folder that is a parent of a file is its room.
ROOMS = {
    "jobs/base": "base",
    "jobs": "jobs",
    "runner/proc": "proc",
    "runner/mpi": "mpi",
    "runner/log": "log",
    "runner/model": "model",
    "runner/nkisim": "nkisim",
    "runner/device": "device",
    "runner/agent": "agent",
    "runner": "runner",
    "slurm": "slurm",
    "aggregate": "aggregate",
    "cli": "cli",
}
SUFFIXES = {".cpp", ".hpp", ".c", ".h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def room_of(path):
    """The room of a path relative to the root, or None."""
    for parent in Path(path).parents:
        if str(parent) in ROOMS:
            return ROOMS[str(parent)]
    return None


def sources():
    """Every C or C++ file of a room, relative to the root."""
    found = []
    for top in sorted({room.split("/")[0] for room in ROOMS}):
        found += [path.relative_to(ROOT) for path in sorted((ROOT / top).rglob("*")) if path.suffix in SUFFIXES]
    return found


def includes(path):
    """(line, '<' or '"', name) of each include of a file."""
    text = (ROOT / path).read_text(encoding="utf-8")
    return [(text.count("\n", 0, match.start(2)) + 1, match[1], match[2]) for match in INCLUDE.finditer(text)]


def finish(name, checked, faults):
    """Prints the faults and exits; a check that looked at nothing is a failure."""
    for fault in faults:
        print(fault)
    print(f"{name}: {checked} looked at, {len(faults)} faults")
    sys.exit(1 if faults or not checked else 0)
