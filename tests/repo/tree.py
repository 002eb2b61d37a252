"""What the repository checks share: the rooms, and every tracked kind of source file with its includes."""
import os
import re
import sys
from pathlib import Path

ROOT = Path(os.environ.get("NKIGRID_SOURCE_DIR", Path(__file__).resolve().parents[2]))

# Folder, room, and the rooms right below it: what those may see, it may see too. The longest folder that is a parent of
# a file is its room.
LAYOUT = [
    ("jobs/base", "base", []),
    ("jobs", "jobs", ["base"]),
    ("runner/proc", "proc", ["base"]),
    ("runner/mpi", "mpi", ["base"]),
    ("runner/nkisim", "nkisim", ["base"]),
    ("runner/log", "log", ["jobs"]),
    ("runner/model", "model", ["log", "proc"]),
    ("runner/device", "device", ["jobs", "proc", "nkisim"]),
    ("runner/agent", "agent", ["log", "model", "device"]),
    ("runner", "runner", ["agent", "mpi"]),
    ("slurm", "slurm", ["jobs", "proc", "log"]),
    ("aggregate", "aggregate", ["jobs", "proc", "log"]),
    ("exports", "exports", ["agent"]),
    ("cli", "cli", ["runner", "slurm", "aggregate", "exports"]),
]
ROOMS = {folder: room for folder, room, _ in LAYOUT}
BELOW = {room: below for _, room, below in LAYOUT}
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
