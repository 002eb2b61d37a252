"""Includes and links run down between rooms and between parts of a room, and each library is used by one room.

Usage: check_arrows.py            looks at the repository
       check_arrows.py --prove    looks at made-up faults and fails unless each is found
"""
import re
import sys
from pathlib import Path

import tree

# Header prefix -> the rooms that own the library. Everyone else sees our value types.
OWNERS = {
    "yaml-cpp/": ["jobs"],
    "openssl/": ["base", "model"],
    "Random123/": ["base"],
    "seccomp.h": ["proc"],
    "mpi.h": ["mpi"],
    "hdf5.h": ["log"],
    "H5": ["log"],
    "zlib.h": ["log"],
    "minizip": ["exports"],
    "curl/": ["model"],
    "httplib.h": ["cli"],
    "CLI/": ["cli"],
    "slurm/slurm": ["slurm"],
    "boost/": ["aggregate"],
    "cblas.h": ["nkisim"],
    "Python.h": ["device", "nkisim"],
    "gtest/": [],
    "gmock/": [],
}
ONLY_IN_SOURCES = ("yaml-cpp/", "nlohmann/json.hpp")  # slow headers: in a .hpp everyone would pay for them


def under(*parts):
    """Parts of the simulator, as folders."""
    return [f"runner/nkisim/{part}" for part in parts]


# Part of a room -> folders that it may not include, though its room may.
PARTS = {
    "jobs/grid": ["jobs/forecast"],
    "aggregate/statistics": ["aggregate/evidence", "aggregate/layout", "aggregate/tables", "jobs", "runner/log"],
    "aggregate/evidence": ["aggregate/layout", "aggregate/tables"],
    "aggregate/layout": ["aggregate/evidence", "aggregate/tables", "jobs", "runner/log"],
    "runner/device/shared": ["runner/device/check"],
    "runner/nkisim/engine": under("estimate", "diagnose"),
    "runner/nkisim/estimate": under("specials", "engine", "diagnose"),
    "runner/nkisim/program": under("engine", "estimate", "diagnose"),
    "runner/nkisim/specials": under("program", "engine", "estimate", "diagnose"),
    "runner/nkisim/numbers": under("specials", "program", "engine", "estimate", "diagnose"),
}
FOR_ALL = "jobs/base"


def reach(room):
    """The rooms that a room may include."""
    seen, todo = {room}, [room]
    while todo:
        for below in tree.BELOW[todo.pop()]:
            if below not in seen:
                seen.add(below)
                todo.append(below)
    return seen


def backend_of(path):
    """The device backend that a file belongs to, or None: each is a folder of runner/device with a backend.hpp."""
    parts = Path(path).parts
    inside = parts[:2] == ("runner", "device") and len(parts) > 3
    return parts[2] if inside and (tree.ROOT / "runner/device" / parts[2] / "backend.hpp").is_file() else None


def backend_fault(path, name):
    """A backend is seen by itself and by the table of backends; the simulator's engine by its backend alone."""
    own, other = backend_of(path), backend_of(name)
    if other and other != own and str(path) != "runner/device/backends.cpp":
        return f'"{name}" belongs to backend {other}; go through runner/device/backends.hpp'
    if tree.room_of(path) == "device" and tree.room_of(name) == "nkisim" and own != "sim":
        return f'"{name}": of the device only sim/ may include nkisim'
    return None


def is_under(path, folder):
    return Path(folder) in Path(path).parents


def part_fault(path, name):
    """What is wrong with an include between parts of a room, or None."""
    for part, above in PARTS.items():
        for folder in above:
            if is_under(path, part) and is_under(name, folder) and not is_under(name, FOR_ALL):
                return f'"{name}": {part} may not include {folder}'
    return None


def include_fault(path, kind, name):
    """What is wrong with one include, or None."""
    room = tree.room_of(path)
    if kind == "<":
        if name.startswith(ONLY_IN_SOURCES) and Path(path).suffix in (".hpp", ".h"):
            return f"<{name}> in a header; include it in the .cpp"
        for prefix, owners in OWNERS.items():
            if name.startswith(prefix) and room not in owners:
                return f"<{name}> in room {room}; it belongs to {' and '.join(owners) or 'tests'}"
        return None
    target = tree.room_of(name)
    if target is None or not (tree.ROOT / name).is_file():
        return f'"{name}" is no file of a room, written from the root'
    if target not in reach(room):
        return f'"{name}": {room} may not include {target}'
    return backend_fault(path, name) or part_fault(path, name)


def link_faults(folder, text, included):
    """Links of a room's CMakeLists.txt to rooms that it may not see, or of which its files include nothing."""
    room = tree.ROOMS[folder]
    linked = sorted(name for name in set(re.findall(r"nkigrid::(\w+)", text)) if name in tree.BELOW)
    faults = [f"may not link nkigrid::{name}" for name in linked if name not in reach(room)]
    idle = [f"links nkigrid::{name} and includes nothing of it" for name in linked if name not in included]
    return [f"{folder}/CMakeLists.txt: {room} {fault}" for fault in faults + idle]


def look():
    faults, checked, included = [], 0, {}
    for path in tree.sources():
        for line, kind, name in tree.includes(path):
            checked += 1
            included.setdefault(tree.room_of(path), set()).add(tree.room_of(name))
            fault = include_fault(str(path), kind, name)
            if fault:
                faults.append(f"{path}:{line}: {fault}")
    for folder, room in tree.ROOMS.items():
        faults += link_faults(folder, (tree.ROOT / folder / "CMakeLists.txt").read_text(), included.get(room, set()))
    tree.finish("arrows", checked, faults)


def prove():
    """A check that cannot fail proves nothing."""
    bad = [
        ("jobs/base/x.cpp", '"', "jobs/grid/grid.hpp"),
        ("slurm/x.cpp", '"', "aggregate/statistics/intervals.hpp"),
        ("aggregate/x.cpp", '"', "runner/runner.hpp"),
        ("runner/log/x.cpp", '"', "runner/proc/child.hpp"),
        ("jobs/x.cpp", '"', "grid.hpp"),
        ("jobs/x.cpp", '"', "jobs/no_such.hpp"),
        ("aggregate/x.cpp", "<", "yaml-cpp/yaml.h"),
        ("cli/x.cpp", "<", "mpi.h"),
        ("jobs/x.hpp", "<", "nlohmann/json.hpp"),
        ("jobs/x.cpp", "<", "gtest/gtest.h"),
        ("jobs/grid/x.cpp", '"', "jobs/forecast/costs.hpp"),
        ("runner/nkisim/program/x.hpp", '"', "runner/nkisim/engine/run.hpp"),
        ("runner/device/neuron/x.cpp", '"', "runner/device/sim/session.hpp"),
        ("runner/device/neuron/x.cpp", '"', "runner/nkisim/engine/run.hpp"),
        ("runner/device/backend.hpp", '"', "runner/nkisim/engine/run.hpp"),
        ("runner/device/check/x.cpp", '"', "runner/device/sim/backend.hpp"),
        ("cli/x.cpp", '"', "runner/device/neuron/backend.hpp"),
    ]
    good = [
        ("cli/x.cpp", '"', "runner/runner.hpp"),
        ("runner/agent/x.cpp", '"', "jobs/grid/grid.hpp"),
        ("runner/x.cpp", '"', "runner/mpi/comm.hpp"),
        ("jobs/x.cpp", "<", "nlohmann/json.hpp"),
        ("jobs/x.cpp", "<", "vector"),
        ("jobs/grid/x.cpp", '"', "jobs/base/error.hpp"),
        ("runner/nkisim/engine/x.cpp", '"', "runner/nkisim/program/program.hpp"),
        ("runner/device/backends.cpp", '"', "runner/device/neuron/backend.hpp"),
        ("runner/device/sim/x.cpp", '"', "runner/nkisim/engine/run.hpp"),
        ("runner/device/neuron/x.cpp", '"', "runner/device/shared/limits.hpp"),
    ]
    faults = [f"not noticed: {case}" for case in bad if not include_fault(*case)] + [
        f"refused: {case}: {include_fault(*case)}" for case in good if include_fault(*case)
    ]
    text = "nkigrid_room(NAME log PUBLIC nkigrid::jobs PRIVATE nkigrid::agent nkigrid::base)"
    if len(link_faults("runner/log", text, {"jobs", "agent"})) != 2:
        faults.append("not noticed: a link of log to agent, or one to base of which nothing is included")
    tree.finish("arrow proof", len(bad) + len(good), faults)


if __name__ == "__main__":
    prove() if "--prove" in sys.argv else look()
